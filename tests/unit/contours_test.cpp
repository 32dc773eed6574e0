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

/// A ridge through the middle whose normal has angle `normal`, as wide as blurred boundaries are.
std::vector<float> ridge(int width, int height, double normal, double sigma = 2) {
  return testing::by_pixel(width, height, [&](int x, int y) {
    const double distance =
        (x - width / 2) * std::cos(normal) + (y - height / 2) * std::sin(normal);
    return static_cast<float>(std::exp(-distance * distance / (2 * sigma * sigma)));
  });
}

double distance_of_angles(double a, double b) {
  const double d = std::fmod(std::abs(a - b), kPi);
  return std::min(d, kPi - d);
}

TEST(BoundaryOrientation, IsTheNormalOfARidgeAtAnyAngle) {
  constexpr int kWidth = 61;
  constexpr int kHeight = 53;
  for (int degrees = 0; degrees < 180; degrees += 7) {
    const double normal = degrees * kPi / 180;
    const std::vector<float> angles =
        boundary_orientation(ridge(kWidth, kHeight, normal), kWidth, kHeight);
    // On the crest, within the part where no border is in reach.
    for (int step = -15; step <= 15; ++step) {
      const int x = kWidth / 2 + static_cast<int>(std::lround(-step * std::sin(normal)));
      const int y = kHeight / 2 + static_cast<int>(std::lround(step * std::cos(normal)));
      const float angle = angles[static_cast<std::size_t>(y * kWidth + x)];
      EXPECT_GE(angle, 0.0F);
      EXPECT_LT(angle, kPi);
      // A square filter is not quite round: up to 2 degrees off.
      EXPECT_LT(distance_of_angles(angle, normal), 2 * kPi / 180) << degrees << " at " << step;
    }
  }
}

TEST(BoundaryOrientation, IsZeroWhereThereIsNothing) {
  const std::vector<float> nothing(30 * 20, 0.0F);
  EXPECT_EQ(boundary_orientation(nothing, 30, 20), nothing);
  EXPECT_EQ(suppress_non_maxima(nothing, nothing, 30, 20), nothing);
}

TEST(SuppressNonMaxima, LeavesARidgeOnePixelWide) {
  constexpr int kWidth = 61;
  constexpr int kHeight = 53;
  for (const int degrees : {0, 45, 90, 135}) {
    const double normal = degrees * kPi / 180;
    const std::vector<float> map = ridge(kWidth, kHeight, normal);
    const std::vector<float> thin =
        suppress_non_maxima(map, boundary_orientation(map, kWidth, kHeight), kWidth, kHeight);
    for (int y = 8; y < kHeight - 8; ++y) {
      for (int x = 8; x < kWidth - 8; ++x) {
        const double distance =
            (x - kWidth / 2) * std::cos(normal) + (y - kHeight / 2) * std::sin(normal);
        const auto i = static_cast<std::size_t>(y * kWidth + x);
        // Far out in the flanks there is nothing to thin: the strength is below 1e-4.
        if (std::abs(distance) < 0.1) {
          EXPECT_EQ(thin[i], map[i]) << degrees << ": " << x << ", " << y;
        } else if (std::abs(distance) < 8) {
          EXPECT_EQ(thin[i], 0.0F) << degrees << ": " << x << ", " << y;
        }
      }
    }
  }
}

TEST(SuppressNonMaxima, LeavesAtMostTwoPixelsAcrossARidgeAtAnyAngle) {
  constexpr int kWidth = 61;
  constexpr int kHeight = 53;
  for (int degrees = 3; degrees < 180; degrees += 11) {
    const double normal = degrees * kPi / 180;
    const std::vector<float> map = ridge(kWidth, kHeight, normal);
    const std::vector<float> thin =
        suppress_non_maxima(map, boundary_orientation(map, kWidth, kHeight), kWidth, kHeight);
    const bool steep = std::abs(std::cos(normal)) > std::abs(std::sin(normal));
    for (int along = -12; along <= 12; ++along) {
      int kept = 0;
      for (int across = -6; across <= 6; ++across) {
        const int centre = static_cast<int>(
            std::lround(along * (steep ? -std::tan(normal) : -1 / std::tan(normal))));
        const int x = kWidth / 2 + (steep ? centre + across : along);
        const int y = kHeight / 2 + (steep ? along : centre + across);
        if (thin[static_cast<std::size_t>(y * kWidth + x)] > 0) ++kept;
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

TEST(SuppressNonMaxima, ThinsAStepToItsEdge) {
  // A plateau beside nothing: the normal is x, and only where the map falls is anything lost.
  std::vector<float> map;
  for (int i = 0; i < 40 * 30; ++i) map.push_back(i % 40 < 20 ? 0.8F : 0.0F);
  const std::vector<float> angles = boundary_orientation(map, 40, 30);
  EXPECT_NEAR(distance_of_angles(angles[15 * 40 + 18], 0), 0, 1e-3);
  const std::vector<float> thin = suppress_non_maxima(map, angles, 40, 30);
  for (int x = 5; x < 35; ++x)
    EXPECT_EQ(thin[15 * 40 + static_cast<std::size_t>(x)], x < 20 ? 0.8F : 0.0F);
}

TEST(SuppressNonMaxima, FadesTheOuterFivePixels) {
  const std::vector<float> map(20 * 20, 1.0F);
  const std::vector<float> thin =
      suppress_non_maxima(map, boundary_orientation(map, 20, 20), 20, 20);
  for (int x = 0; x < 20; ++x) {
    const float expected =
        std::min({1.0F, static_cast<float>(x) / 5.0F, static_cast<float>(19 - x) / 5.0F});
    EXPECT_FLOAT_EQ(thin[10 * 20 + static_cast<std::size_t>(x)], expected) << x;
    EXPECT_FLOAT_EQ(thin[static_cast<std::size_t>(x) * 20 + 10], expected) << x;
  }
}

TEST(SuppressNonMaxima, TakesAnySize) {
  for (const int width : {1, 2, 3, 5, 7, 13}) {
    for (const int height : {1, 2, 3, 5, 7, 13}) {
      const std::vector<float> map(static_cast<std::size_t>(width * height), 0.5F);
      const std::vector<float> angles = boundary_orientation(map, width, height);
      const std::vector<float> thin = suppress_non_maxima(map, angles, width, height);
      ASSERT_EQ(thin.size(), map.size());
      for (const float value : thin) {
        EXPECT_GE(value, 0.0F);
        EXPECT_LE(value, 0.5F);
      }
      // The middle is never faded where it is one pixel.
      if (width % 2 == 1 && height % 2 == 1 && width < 11 && height < 11) {
        EXPECT_EQ(thin[thin.size() / 2], 0.5F) << width << " x " << height;
      }
    }
  }
  EXPECT_EQ(suppress_non_maxima(std::vector<float>{0.5F}, std::vector<float>{1.0F}, 1, 1),
            std::vector<float>{0.5F});
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

TEST(GradientWeights, KeepConstantsAndMeasureSlopes) {
  for (const double sigma : {0.05, 0.3, 0.5, 1.0, 1.5, 2.0, 10.0}) {
    SCOPED_TRACE(sigma);
    const GradientWeights weights = gradient_weights(sigma);
    EXPECT_EQ(weights.radius(), static_cast<int>(std::ceil(3 * sigma)));
    ASSERT_EQ(weights.smooth.size(), weights.derivative.size() + 1);
    double constant = weights.smooth[0];
    double slope = 0;
    for (int t = 1; t <= weights.radius(); ++t) {
      constant += 2 * weights.smooth[static_cast<std::size_t>(t)];
      slope += 2 * t * weights.derivative[static_cast<std::size_t>(t - 1)];
      EXPECT_GE(weights.derivative[static_cast<std::size_t>(t - 1)], 0);
    }
    EXPECT_NEAR(constant, 1, 1e-14);
    EXPECT_NEAR(slope, 1, 1e-14);
  }
}

TEST(GradientWeights, AreAGaussianAndItsDerivative) {
  const double sigma = 2;
  const GradientWeights weights = gradient_weights(sigma);
  const auto ratio = [](double later, double earlier) { return later / earlier; };
  EXPECT_NEAR(ratio(weights.smooth[3], weights.smooth[1]), std::exp(-(9.0 - 1) / 8), 1e-14);
  // The derivative at t is proportional to t times the Gaussian.
  EXPECT_NEAR(ratio(weights.derivative[2], weights.derivative[0]), 3 * std::exp(-(9.0 - 1) / 8),
              1e-14);
}

}  // namespace
}  // namespace diacut
