#include "contour/boundary_orientation.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <opencv2/imgproc.hpp>

#include "diacut/errors.hpp"
#include "opencl/kernel_file.hpp"
#include "opencl/lanes.hpp"
#include "opencl/uploads.hpp"

namespace diacut {

namespace {

constexpr int kTriangleRadius = 4;
constexpr int kReach = kTriangleRadius + 2;  ///< A triangle filter and two central differences.
constexpr int kTaps = 2 * kReach + 1;
constexpr int kFilters = 3;

KernelFile orientation_kernels(Context& context) {
  return {context, "contour/boundary_orientation.cl",
          fmt::format("-DREACH={} -DWIDTH={}", kReach, lane_shape(context.info()).width)};
}

using Filter = std::array<float, kTaps>;

/// The triangle filter, differentiated `order` times by (f(x + 1) - f(x - 1)) / 2. Differences in x
/// and in y have the same width, so that the Hessian of a straight ridge has rank one.
Filter triangle(int order) {
  Filter filter{};
  const float mass = (kTriangleRadius + 1) * (kTriangleRadius + 1);
  for (int d = -kTriangleRadius; d <= kTriangleRadius; ++d) {
    filter[static_cast<std::size_t>(d + kReach)] =
        static_cast<float>(kTriangleRadius + 1 - std::abs(d)) / mass;
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

void ask_for_orientation_kernels(Context& context) { orientation_kernels(context); }

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

void check_map_size(std::size_t found, int width, int height, const char* what) {
  if (width < 1 || height < 1 ||
      found != static_cast<std::size_t>(width) * static_cast<std::size_t>(height)) {
    throw InputError(fmt::format("the {} has {} values; {} x {} pixels were expected", what, found,
                                 width, height));
  }
}

}  // namespace diacut
