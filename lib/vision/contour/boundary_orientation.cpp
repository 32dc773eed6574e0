#include "contour/boundary_orientation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <opencv2/imgproc.hpp>

#include "diacut/errors.hpp"
#include "opencl/lanes.hpp"
#include "opencl/uploads.hpp"

namespace diacut {

namespace {

constexpr int kTriangleRadius = 4;
constexpr int kReach = kTriangleRadius + 2;  ///< A triangle filter and two central differences.
constexpr int kTaps = 2 * kReach + 1;
constexpr int kFilters = 3;

using Filter = std::array<float, kTaps>;

/// The triangle filter, differentiated `order` times by (f(x + 1) - f(x - 1)) / 2. Differences in x
/// and in y have the same width, so that the Hessian of a straight ridge has rank one.
Filter triangle(int order) {
  Filter filter{};
  const float mass = (kTriangleRadius + 1) * (kTriangleRadius + 1);
  for (int d = -kTriangleRadius; d <= kTriangleRadius; ++d) {
    filter[d + kReach] = static_cast<float>(kTriangleRadius + 1 - std::abs(d)) / mass;
  }
  for (int pass = 0; pass < order; ++pass) {
    const Filter before = filter;
    for (std::size_t i = 0; i < kTaps; ++i) {
      const float right = i + 1 < kTaps ? before[i + 1] : 0.0F;
      const float left = i > 0 ? before[i - 1] : 0.0F;
      filter[i] = (right - left) / 2;
    }
  }
  return filter;
}

/// The map filtered along x and y by the triangle of these orders, in the precision of Value.
template <class Value>
std::vector<Value> filtered(std::span<const float> boundary, int width, int height, int x_order,
                            int y_order) {
  std::vector<Value> map(boundary.begin(), boundary.end());
  std::vector<Value> result(map.size());
  const cv::Mat from(height, width, cv::DataType<Value>::type, map.data());
  cv::Mat to(from.size(), from.type(), result.data());
  cv::sepFilter2D(from, to, -1, triangle(x_order), triangle(y_order), {-1, -1}, 0,
                  cv::BORDER_REFLECT);
  return result;
}

/// Throws InputError, naming the map `what`, unless width and height are positive and `found`, the
/// number of its values, is width * height.
void check_map_size(std::size_t found, int width, int height, const char* what) {
  if (width < 1 || height < 1 || found != static_cast<std::size_t>(width) * height) {
    throw InputError(fmt::format("the {} has {} values; {} x {} pixels were expected", what, found,
                                 width, height));
  }
}

constexpr float kTolerance = 1.01F;
constexpr int kFade = 5;

float bilinear(std::span<const float> map, int width, int height, float x, float y) {
  x = std::clamp(x, 0.0F, static_cast<float>(width - 1));
  y = std::clamp(y, 0.0F, static_cast<float>(height - 1));
  const int x0 = static_cast<int>(x);
  const int y0 = static_cast<int>(y);
  const float right = x - static_cast<float>(x0);
  const float below = y - static_cast<float>(y0);
  const int x1 = std::min(x0 + 1, width - 1);
  const int y1 = std::min(y0 + 1, height - 1);
  const float* upper = map.data() + static_cast<std::size_t>(y0) * width;
  const float* lower = map.data() + static_cast<std::size_t>(y1) * width;
  return (1 - below) * ((1 - right) * upper[x0] + right * upper[x1]) +
         below * ((1 - right) * lower[x0] + right * lower[x1]);
}

/// The factor of a pixel at position `at` in a row or column of `size` pixels: less than 1 near its
/// ends.
float fade(int at, int size) {
  const int width = std::min(kFade, size / 2);
  const int from_border = std::min(at, size - 1 - at);
  return from_border >= width ? 1.0F : static_cast<float>(from_border) / static_cast<float>(width);
}

}  // namespace

std::vector<float> boundary_orientation(std::span<const float> boundary, int width, int height) {
  check_map_size(boundary.size(), width, height, "boundary map");
  const auto xx = filtered<float>(boundary, width, height, 2, 0);
  const auto xy = filtered<float>(boundary, width, height, 1, 1);
  const auto yy = filtered<float>(boundary, width, height, 0, 2);
  constexpr float kPi = std::numbers::pi_v<float>;
  std::vector<float> orientation(boundary.size());
  for (std::size_t i = 0; i < boundary.size(); ++i) {
    // The eigenvector of the larger eigenvalue, or, where the sum of the eigenvalues is negative,
    // of the smaller one: in both cases of the eigenvalue of larger magnitude.
    const float sign = xx[i] + yy[i] < 0 ? -1.0F : 1.0F;
    float angle = std::atan2(sign * 2 * xy[i], sign * (xx[i] - yy[i])) / 2;
    if (angle < 0) angle += kPi;
    orientation[i] = angle < kPi ? angle : 0.0F;
  }
  return orientation;
}

KernelFile orientation_kernels(Context& context) {
  return {context, "contour/boundary_orientation.cl",
          fmt::format("-DREACH={} -DWIDTH={}", kReach, lane_shape(context.info()).width)};
}

Buffer<float> boundary_orientation(Context& context, const Grid& grid,
                                   const Buffer<float>& boundary) {
  const KernelFile kernels = orientation_kernels(context);
  std::vector<float> taps;
  for (int order = 0; order < kFilters; ++order) {
    const Filter filter = triangle(order);
    taps.insert(taps.end(), filter.begin(), filter.end());
  }
  const auto filters = device_table(context, taps, "filters of boundaries");
  const auto width = static_cast<std::size_t>(grid.width);
  const auto height = static_cast<std::size_t>(grid.height);
  // The distance of rows in a plane: whole vectors of any width that a device may use.
  const std::size_t plane_stride = round_up(width, 16);
  const auto planes =
      context.allocate<float>(kFilters * height * plane_stride, "boundaries filtered along x");
  auto orientation = context.allocate<float>(grid.rows(), "directions of boundaries");
  const std::size_t lanes = lane_shape(context.info()).width;
  const std::size_t columns = round_up(width, lanes) / lanes;
  kernels.launch_rows("orientation_rows", columns, height, boundary, filters, planes, grid.width,
                      grid.height, static_cast<int>(plane_stride));
  kernels.launch_rows("orientation_columns", columns, height, planes, filters, orientation,
                      grid.width, grid.height, static_cast<int>(plane_stride));
  return orientation;
}

Curvature reference_curvature(std::span<const float> boundary, int width, int height) {
  check_map_size(boundary.size(), width, height, "boundary map");
  return {filtered<double>(boundary, width, height, 2, 0),
          filtered<double>(boundary, width, height, 1, 1),
          filtered<double>(boundary, width, height, 0, 2)};
}

std::vector<float> suppress_non_maxima(std::span<const float> boundary,
                                       std::span<const float> orientation, int width, int height) {
  check_map_size(boundary.size(), width, height, "boundary map");
  check_map_size(orientation.size(), width, height, "map of orientations");
  std::vector<float> thin(boundary.size());
  for (int y = 0; y < height; ++y) {
    const float row_share = fade(y, height);
    for (int x = 0; x < width; ++x) {
      const std::size_t i = static_cast<std::size_t>(y) * width + static_cast<std::size_t>(x);
      if (!(boundary[i] > 0)) continue;
      const float dx = std::cos(orientation[i]);
      const float dy = std::sin(orientation[i]);
      const auto fx = static_cast<float>(x);
      const auto fy = static_cast<float>(y);
      const float least = kTolerance * boundary[i];
      if (least < bilinear(boundary, width, height, fx + dx, fy + dy)) continue;
      if (least < bilinear(boundary, width, height, fx - dx, fy - dy)) continue;
      thin[i] = boundary[i] * row_share * fade(x, width);
    }
  }
  return thin;
}

}  // namespace diacut
