#include "contour/boundary_orientation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <opencv2/imgproc.hpp>

#include "diacut/errors.hpp"
#include "opencl/arguments.hpp"
#include "opencl/lanes.hpp"

namespace diacut {

namespace {

constexpr char kFile[] = "contour/boundary_orientation.cl";
constexpr std::size_t kFilters = 3;
constexpr int kTriangleRadius = 4;
constexpr int kReach = kTriangleRadius + 2;  ///< A triangle filter and two central differences.
constexpr int kTaps = 2 * kReach + 1;

/// The distance of rows in a plane: whole vectors of any width that a device may use.
std::size_t plane_stride(const Grid& grid) {
  return round_up(static_cast<std::size_t>(grid.width), 16);
}

std::size_t planes_size(const Grid& grid) {
  return kFilters * static_cast<std::size_t>(grid.height) * plane_stride(grid);
}

std::string options_for(const DeviceInfo& device, std::size_t taps) {
  return fmt::format("-DREACH={} -DWIDTH={}", taps / kFilters / 2, lane_shape(device).width);
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

/// The position in [0, size) that appears at position `at` when the range is mirrored at its ends,
/// where the edge position appears twice.
int mirrored(int at, int size) {
  const int period = 2 * size;
  at = ((at % period) + period) % period;
  return at < size ? at : period - 1 - at;
}

}  // namespace

BoundaryOrientation::BoundaryOrientation(Context& context, const Grid& grid,
                                         const std::vector<float>& taps)
    : context_(&context),
      grid_(grid),
      plane_stride_(static_cast<int>(plane_stride(grid))),
      lanes_(lane_shape(context.info()).width),
      taps_(context.allocate<float>(taps.size(), "filters of boundaries")),
      planes_(context.allocate<float>(planes_size(grid), "boundaries filtered along x")) {
  taps_.upload(taps);
  const std::string options = options_for(context.info(), taps.size());
  rows_ = context.kernel(kFile, "orientation_rows", options);
  columns_ = context.kernel(kFile, "orientation_columns", options);
}

void BoundaryOrientation::launch(const Buffer<float>& boundary, Buffer<float>& orientation) {
  const std::size_t columns = round_up(static_cast<std::size_t>(grid_.width), lanes_) / lanes_;
  set_arguments(rows_, boundary, taps_, planes_, grid_.width, grid_.height, grid_.stride,
                plane_stride_);
  launch_rows(*context_, rows_, columns, static_cast<std::size_t>(grid_.height));
  set_arguments(columns_, planes_, taps_, orientation, grid_.width, grid_.height, grid_.stride,
                plane_stride_);
  launch_rows(*context_, columns_, columns, static_cast<std::size_t>(grid_.height));
}

std::vector<float> boundary_orientation(std::span<const float> boundary, int width, int height) {
  check_map_size(boundary.size(), width, height, "boundary map");
  const cv::Mat map(height, width, CV_32F, const_cast<float*>(boundary.data()));
  const auto filtered = [&](int x_order, int y_order) {
    std::vector<float> result(boundary.size());
    cv::Mat to(height, width, CV_32F, result.data());
    cv::sepFilter2D(map, to, CV_32F, triangle(x_order), triangle(y_order), {-1, -1}, 0,
                    cv::BORDER_REFLECT);
    return result;
  };
  const std::vector<float> xx = filtered(2, 0);
  const std::vector<float> xy = filtered(1, 1);
  const std::vector<float> yy = filtered(0, 2);
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

BoundaryOrientation boundary_orientation_launcher(Context& context, const Grid& grid) {
  std::vector<float> taps;
  for (int order = 0; order < 3; ++order) {
    const Filter filter = triangle(order);
    taps.insert(taps.end(), filter.begin(), filter.end());
  }
  return {context, grid, taps};
}

Buffer<float> boundary_orientation(Context& context, const Grid& grid,
                                   const Buffer<float>& boundary) {
  BoundaryOrientation kernels = boundary_orientation_launcher(context, grid);
  auto orientation = context.allocate<float>(grid.rows(), "directions of boundaries");
  kernels.launch(boundary, orientation);
  return orientation;
}

Curvature reference_curvature(std::span<const float> boundary, int width, int height) {
  check_map_size(boundary.size(), width, height, "boundary map");
  const auto filtered = [&](int x_order, int y_order) {
    const Filter fx = triangle(x_order);
    const Filter fy = triangle(y_order);
    std::vector<double> result;
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        double sum = 0;
        for (int dy = -kReach; dy <= kReach; ++dy) {
          for (int dx = -kReach; dx <= kReach; ++dx) {
            const auto row = static_cast<std::size_t>(mirrored(y + dy, height));
            const auto column = static_cast<std::size_t>(mirrored(x + dx, width));
            sum += static_cast<double>(fx[static_cast<std::size_t>(dx + kReach)]) *
                   fy[static_cast<std::size_t>(dy + kReach)] *
                   boundary[row * static_cast<std::size_t>(width) + column];
          }
        }
        result.push_back(sum);
      }
    }
    return result;
  };
  return {filtered(2, 0), filtered(1, 1), filtered(0, 2)};
}

void check_map_size(std::size_t found, int width, int height, const char* what) {
  if (width < 1 || height < 1 ||
      found != static_cast<std::size_t>(width) * static_cast<std::size_t>(height)) {
    throw InputError(fmt::format("the {} has {} values; {} x {} pixels were expected", what, found,
                                 width, height));
  }
}

}  // namespace diacut
