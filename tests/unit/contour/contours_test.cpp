#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

#include "boundary/gradient/gradient.hpp"
#include "by_pixel.hpp"
#include "contour/boundary_orientation.hpp"
#include "contour/combined_contour.hpp"
#include "diacut/errors.hpp"

namespace diacut {
namespace {

constexpr double kPi = std::numbers::pi;

constexpr int kRidgeWidth = 61;
constexpr int kRidgeHeight = 53;

std::size_t ridge_pixel(int x, int y) { return static_cast<std::size_t>(y * kRidgeWidth + x); }

/// A ridge through the middle, as wide as blurred boundaries are.
struct Ridge {
  explicit Ridge(int degrees)
      : cosine(std::cos(degrees * kPi / 180)), sine(std::sin(degrees * kPi / 180)) {}

  double distance(int x, int y) const {
    return (x - kRidgeWidth / 2) * cosine + (y - kRidgeHeight / 2) * sine;
  }

  double cosine;  ///< Of the angle of its normal.
  double sine;
  std::vector<float> map = testing::by_pixel(kRidgeWidth, kRidgeHeight, [&](int x, int y) {
    return static_cast<float>(std::exp(-std::pow(distance(x, y) / 2, 2) / 2));
  });
  std::vector<float> angles = boundary_orientation(map, kRidgeWidth, kRidgeHeight);
  std::vector<float> thin = suppress_non_maxima(map, angles, kRidgeWidth, kRidgeHeight);
};

TEST(BoundaryOrientation, IsTheNormalOfARidgeAtAnyAngle) {
  for (int degrees = 0; degrees < 180; degrees += 7) {
    const Ridge ridge(degrees);
    // On the crest, within the part where no border is in reach.
    for (int step = -15; step <= 15; ++step) {
      const float angle = ridge.angles[ridge_pixel(
          kRidgeWidth / 2 + static_cast<int>(std::lround(-step * ridge.sine)),
          kRidgeHeight / 2 + static_cast<int>(std::lround(step * ridge.cosine)))];
      EXPECT_GE(angle, 0.0F);
      EXPECT_LT(angle, kPi);
      // A square filter is not quite round: up to 2 degrees off.
      const double apart = std::fmod(std::abs(angle - degrees * kPi / 180), kPi);
      EXPECT_LT(std::min(apart, kPi - apart), 2 * kPi / 180) << degrees << " at " << step;
    }
  }
}

TEST(BoundaryOrientation, IsZeroWhereThereIsNothing) {
  const std::vector<float> nothing(30 * 20, 0.0F);
  EXPECT_EQ(boundary_orientation(nothing, 30, 20), nothing);
  EXPECT_EQ(suppress_non_maxima(nothing, nothing, 30, 20), nothing);
}

TEST(SuppressNonMaxima, LeavesARidgeOnePixelWide) {
  for (const int degrees : {0, 45, 90, 135}) {
    const Ridge ridge(degrees);
    for (int y = 8; y < kRidgeHeight - 8; ++y) {
      for (int x = 8; x < kRidgeWidth - 8; ++x) {
        const double distance = std::abs(ridge.distance(x, y));
        // Far out in the flanks there is nothing to thin: the strength is below 1e-4.
        if (distance >= 8) continue;
        EXPECT_EQ(ridge.thin[ridge_pixel(x, y)],
                  distance < 0.1 ? ridge.map[ridge_pixel(x, y)] : 0.0F)
            << degrees << ": " << x << ", " << y;
      }
    }
  }
}

TEST(SuppressNonMaxima, LeavesAtMostTwoPixelsAcrossARidgeAtAnyAngle) {
  for (int degrees = 3; degrees < 180; degrees += 11) {
    const Ridge ridge(degrees);
    const bool steep = std::abs(ridge.cosine) > std::abs(ridge.sine);
    const double slope = steep ? -ridge.sine / ridge.cosine : -ridge.cosine / ridge.sine;
    for (int along = -12; along <= 12; ++along) {
      const int centre = static_cast<int>(std::lround(along * slope));
      int kept = 0;
      for (int across = centre - 6; across <= centre + 6; ++across) {
        const int x = kRidgeWidth / 2 + (steep ? across : along);
        const int y = kRidgeHeight / 2 + (steep ? along : across);
        if (ridge.thin[ridge_pixel(x, y)] > 0) ++kept;
      }
      EXPECT_GE(kept, 1) << degrees << " at " << along;
      EXPECT_LE(kept, 2) << degrees << " at " << along;
    }
  }
}

TEST(SuppressNonMaxima, KeepsWhatIsWithinOnePercentOfItsNeighbours) {
  std::vector<float> map(20 * 20, 0.5F);
  map[10 * 20 + 10] = 0.504F;
  map[10 * 20 + 14] = 0.506F;
  const std::vector<float> thin =
      suppress_non_maxima(map, std::vector<float>(map.size(), 0.0F), 20, 20);
  EXPECT_EQ(thin[10 * 20 + 9], 0.5F);  // 0.505 is at least 0.504.
  EXPECT_EQ(thin[10 * 20 + 11], 0.5F);
  EXPECT_EQ(thin[10 * 20 + 13], 0.0F);  // 0.505 is less than 0.506.
  EXPECT_EQ(thin[10 * 20 + 15], 0.0F);
  EXPECT_EQ(thin[9 * 20 + 14], 0.5F);  // Not across: above and below.
}

TEST(SuppressNonMaxima, FadesTheOuterFivePixelsOrTheOuterHalf) {
  const auto fade = [](int from_begin, int size) {
    const int from_border = std::min(from_begin, size - 1 - from_begin);
    return size == 1 ? 1.0F
                     : std::min(1.0F, static_cast<float>(from_border) /
                                          static_cast<float>(std::min(5, size / 2)));
  };
  for (const int width : {1, 2, 3, 5, 7, 13, 20}) {
    for (const int height : {1, 2, 3, 5, 7, 13, 20}) {
      const std::vector<float> map(static_cast<std::size_t>(width * height), 0.5F);
      EXPECT_THAT(suppress_non_maxima(map, boundary_orientation(map, width, height), width, height),
                  ::testing::Pointwise(::testing::FloatEq(),
                                       testing::by_pixel(width, height,
                                                         [&](int x, int y) {
                                                           return 0.5F * fade(x, width) *
                                                                  fade(y, height);
                                                         })))
          << width << " x " << height;
    }
  }
}

TEST(SuppressNonMaxima, RefusesSizesThatDoNotFit) {
  const std::vector<float> map(6);
  EXPECT_THROW(boundary_orientation(map, 2, 4), InputError);
  EXPECT_THROW(boundary_orientation(map, 0, 0), InputError);
  EXPECT_THROW(suppress_non_maxima(map, std::vector<float>(5), 2, 3), InputError);
}

TEST(CombinedContour, IsTheWeightedSumWithThePowerOfTheSpectralPart) {
  ContourParameters parameters;
  parameters.boundary_weight = 0.75;
  parameters.spectral_weight = 0.25;
  parameters.spectral_power = 2;
  parameters.spectral_scale = 10;
  // The spectral part is at most 1, and so is the sum.
  EXPECT_THAT(
      reference_combined_contour({0, 1, 0, 0.5F, 0.25F, 1}, {0, 0, 10, 5, 40, 5}, parameters),
      ::testing::ElementsAre(0, 0.75, 0.25, 0.375 + 0.25 * 0.25, 0.1875 + 0.25, 0.75 + 0.0625));
  parameters.spectral_weight = 0.5;
  EXPECT_EQ(reference_combined_contour({1}, {10}, parameters)[0], 1);
  parameters.boundary_weight = 1;
  parameters.spectral_weight = 0;
  const std::vector<float> boundary = {0.1F, 0.9F, 0.3F};
  EXPECT_EQ(reference_combined_contour(boundary, {5, 50, 500}, parameters),
            std::vector<double>(boundary.begin(), boundary.end()));
}

TEST(GradientWeights, OfAGaussianKeepConstantsAndMeasureSlopes) {
  for (const double sigma : {0.05, 0.3, 0.5, 1.0, 1.5, 2.0, 10.0}) {
    SCOPED_TRACE(sigma);
    const GradientWeights weights = gradient_weights(sigma);
    EXPECT_EQ(weights.radius(), static_cast<int>(std::ceil(3 * sigma)));
    ASSERT_EQ(weights.smooth.size(), weights.derivative.size() + 1);
    double constant = weights.smooth[0];
    double slope = 0;
    for (int t = 1; t <= weights.radius(); ++t) {
      constant += 2 * weights.smooth[t];
      slope += 2 * t * weights.derivative[t - 1];
      EXPECT_GE(weights.derivative[t - 1], 0);
    }
    EXPECT_NEAR(constant, 1, 1e-14);
    EXPECT_NEAR(slope, 1, 1e-14);
    if (sigma != 2) continue;
    EXPECT_NEAR(weights.smooth[3] / weights.smooth[1], std::exp(-(9.0 - 1) / 8), 1e-14);
    // The derivative at t is proportional to t times the Gaussian.
    EXPECT_NEAR(weights.derivative[2] / weights.derivative[0], 3 * std::exp(-(9.0 - 1) / 8), 1e-14);
  }
}

}  // namespace
}  // namespace diacut
