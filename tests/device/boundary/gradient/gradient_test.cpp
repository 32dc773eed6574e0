// Boundary maps from the gradient: against OpenCV's filters in double.
#include "boundary/gradient/gradient.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <opencv2/imgproc.hpp>
#include <random>

#include "boundary/boundary.hpp"
#include "drawn_image.hpp"
#include "image/colour.hpp"
#include "image/resize.hpp"
#include "support.hpp"

namespace diacut::testing {
namespace {

Grid grid_of(const Image& image) { return {image.width, image.height}; }

using Plane = cv::Mat_<double>;

/// The softness of the suppression of what is no ridge.
constexpr double kRidgeSoftness = 0.1;

/// The share of its value that a pixel keeps beside a rival: soft non-maximum suppression.
double fade(double own, double rival) {
  if (own >= rival) return 1;
  return std::max(0.0, 1 - (rival - own) / (kRidgeSoftness * rival));
}

struct Tensor {
  Plane xx, xy, yy;
};

/// The sum over the channels of the products of derivatives of Gaussian.
Tensor gradient_tensor(const Image& image, double sigma) {
  const GradientWeights weights = gradient_weights(sigma);
  const int radius = weights.radius();
  Plane smooth(1, 2 * radius + 1, 0.0);
  Plane derivative = smooth.clone();
  smooth(radius) = weights.smooth[0];
  for (int t = 1; t <= radius; ++t) {
    smooth(radius + t) = smooth(radius - t) = weights.smooth[t];
    derivative(radius + t) = weights.derivative[t - 1];
    derivative(radius - t) = -derivative(radius + t);
  }
  // A colour picture without a mask, whose pixels without data have the value of the nearest one.
  std::vector<float> planes =
      lab_planes({image.width, image.height, image.channels, filled_from_nearest(image), {}, {}});
  const Plane zeros(image.height, image.width, 0.0);
  Tensor sum{zeros.clone(), zeros.clone(), zeros.clone()};
  for (int channel = 0; channel < image.channels; ++channel) {
    const cv::Mat plane(image.height, image.width, CV_32F,
                        planes.data() + static_cast<std::size_t>(channel) * image.pixel_count());
    Plane gx, gy;
    cv::sepFilter2D(Plane(plane), gx, CV_64F, derivative, smooth, {-1, -1}, 0,
                    cv::BORDER_REPLICATE);
    cv::sepFilter2D(Plane(plane), gy, CV_64F, smooth, derivative, {-1, -1}, 0,
                    cv::BORDER_REPLICATE);
    sum.xx += gx.mul(gx);
    sum.xy += gx.mul(gy);
    sum.yy += gy.mul(gy);
  }
  return sum;
}

/// Non-maximum suppression, then ridges closed where they step diagonally.
Plane thinned(const Plane& magnitude, const Tensor& tensor) {
  const auto at = [&](int x, int y) {
    return magnitude(std::clamp(y, 0, magnitude.rows - 1), std::clamp(x, 0, magnitude.cols - 1));
  };
  Plane ridge = magnitude.clone();
  ridge.forEach([&](double& own, const int* place) {
    const int y = place[0];
    const int x = place[1];
    // Across the boundary: one component of the step is a whole pixel; along the other axis the
    // value is interpolated between two neighbours.
    const double angle = 0.5 * std::atan2(2 * tensor.xy(y, x), tensor.xx(y, x) - tensor.yy(y, x));
    const double longer = std::max(std::abs(std::cos(angle)), std::abs(std::sin(angle)));
    double rival = 0;
    for (const double sign : {-1 / longer, 1 / longer}) {
      const double dx = sign * std::cos(angle);
      const double dy = sign * std::sin(angle);
      const int left = x + static_cast<int>(std::floor(dx));
      const int top = y + static_cast<int>(std::floor(dy));
      const double u = dx - std::floor(dx);
      const double v = dy - std::floor(dy);
      rival = std::max(rival, (1 - u) * (1 - v) * at(left, top) + u * (1 - v) * at(left + 1, top) +
                                  (1 - u) * v * at(left, top + 1) + u * v * at(left + 1, top + 1));
    }
    own *= fade(own, rival);
  });
  Plane result = ridge.clone();
  const cv::Rect all({}, ridge.size());
  result.forEach([&](double& value, const int* place) {
    const cv::Point own(place[1], place[0]);
    for (const cv::Point& step : {cv::Point(-1, -1), cv::Point(1, -1), {-1, 1}, {1, 1}}) {
      const cv::Point diagonal = own + step;
      if (!all.contains(diagonal)) continue;
      const double lesser = std::min(ridge(own.y, diagonal.x), ridge(diagonal.y, own.x));
      value = std::max(value, lesser * fade(magnitude(own), magnitude(diagonal)));
    }
  });
  return result;
}

/// The boundary map of gradient_boundary_map() in double.
Plane reference_gradient(const Image& image, const BoundaryParameters& parameters) {
  const Tensor tensor = gradient_tensor(image, parameters.sigma);
  Plane spread, magnitude;
  cv::magnitude(tensor.xx - tensor.yy, 2 * tensor.xy, spread);
  cv::sqrt((tensor.xx + tensor.yy + spread) / 2, magnitude);
  std::vector<double> ordered;
  for (std::size_t i = 0; i < image.pixel_count(); ++i) {
    if (image.valid.empty() || image.valid[i] != 0) {
      ordered.push_back(magnitude(static_cast<int>(i)));
    }
  }
  if (ordered.empty()) return magnitude;
  std::sort(ordered.begin(), ordered.end());
  const auto rank = static_cast<std::size_t>(
      std::ceil(parameters.quantile * static_cast<double>(ordered.size())));
  const double full =
      std::max(parameters.floor, ordered[std::clamp<std::size_t>(rank, 1, ordered.size()) - 1]);
  if (!image.valid.empty()) {
    magnitude.setTo(0, cv::Mat(image.valid, false).reshape(1, image.height) == 0);
  }
  const Plane whole = parameters.thin ? thinned(magnitude, tensor) : magnitude;
  return full > 0 ? Plane(cv::min(whole / full, 1.0)) : whole;
}

BoundaryParameters gradient_parameters() {
  BoundaryParameters parameters;
  parameters.kind = BoundaryKind::kGradient;
  return parameters;
}

class GradientBoundaryMap : public ::testing::Test {
 protected:
  void expect_matches_reference(const Image& image, const BoundaryParameters& parameters) {
    SCOPED_TRACE(::testing::Message()
                 << image.width << "x" << image.height << "x" << image.channels << " sigma "
                 << parameters.sigma << " thin " << parameters.thin);
    const Grid grid = grid_of(image);
    const DeviceBoundary map = boundary_map(context_, image, grid, parameters);
    EXPECT_EQ(map.grid, grid);
    const std::vector<float> values = map.values.download();
    const std::vector<std::uint8_t> valid = map.valid.download();
    ASSERT_EQ(values.size(), grid.rows());
    ASSERT_EQ(valid.size(), grid.rows());
    const Plane expected = reference_gradient(image, parameters);
    // A derivative sums 2 (radius + 1) terms, and a few more roundings make it a value of the map.
    // Differences are of the size of the largest gradients, whose values in the map are about 1.
    // Suppression multiplies an error by at most 1 / softness, once for each of the two magnitudes
    // that it compares.
    const double roundings = 2 * gradient_weights(parameters.sigma).radius() + 10;
    const double tolerance = roundings * std::numeric_limits<float>::epsilon() *
                             (parameters.thin ? 2 / kRidgeSoftness : 1);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const bool has_data = image.valid.empty() || image.valid[i] != 0;
      ASSERT_EQ(valid[i], has_data ? 1 : 0);
      if (!has_data) {
        ASSERT_EQ(values[i], 0.0f);
        continue;
      }
      const double wanted = expected(static_cast<int>(i));
      if (!(std::abs(values[i] - wanted) <= tolerance) && ++wrong <= 3) {
        ADD_FAILURE() << "pixel " << i << ": " << values[i] << ", expected " << wanted
                      << ", allowed " << tolerance;
      }
    }
    EXPECT_EQ(wrong, 0u);
  }

  Context context_{test_device()};
};

TEST_F(GradientBoundaryMap, MatchesTheReference) {
  const int sizes[][2] = {{1, 1}, {1, 2},  {2, 1},   {2, 2},   {1, 31}, {31, 1},
                          {5, 7}, {63, 4}, {64, 17}, {65, 33}, {97, 61}};
  unsigned seed = 0;
  for (const auto& [width, height] : sizes) {
    for (const int channels : {1, 3}) {
      for (const bool thin : {false, true}) {
        for (const double sigma : {0.5, 1.0, 2.3}) {
          BoundaryParameters parameters = gradient_parameters();
          parameters.sigma = sigma;
          parameters.thin = thin;
          // Divides all values in place of the quantile.
          if (seed % 3 == 0) parameters.floor = 50;
          ++seed;
          expect_matches_reference(patches_image(width, height, channels, seed), parameters);
        }
      }
    }
  }
}

TEST_F(GradientBoundaryMap, MasksMatchTheReference) {
  Image image = patches_image(67, 41, 3, 5);
  std::mt19937 random(6);
  for (int i = 0; i < 500; ++i) mask_out(image, random() % image.pixel_count());
  for (std::size_t i = 0; i < 67 * 15; ++i) mask_out(image, i);
  Image lonely = patches_image(19, 13, 3, 8);
  for (std::size_t i = 0; i < lonely.pixel_count(); ++i) {
    if (i != 100) mask_out(lonely, i);
  }
  Image nothing = lonely;
  mask_out(nothing, 100);
  for (const Image& masked : {image, lonely, nothing}) {
    for (const bool thin : {false, true}) {
      BoundaryParameters parameters = gradient_parameters();
      parameters.thin = thin;
      expect_matches_reference(masked, parameters);
    }
  }
}

}  // namespace
}  // namespace diacut::testing
