#include "contour/boundary_orientation.hpp"

#include <fmt/format.h>

#include "opencl/arguments.hpp"
#include "opencl/lanes.hpp"

namespace diacut {

namespace {

constexpr char kFile[] = "contour/boundary_orientation.cl";
constexpr std::size_t kFilters = 3;

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

}  // namespace

void BoundaryOrientation::request(Context& context, std::size_t taps) {
  context.kernel(kFile, "orientation_columns", options_for(context.info(), taps));
}

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

std::size_t BoundaryOrientation::memory(const Grid& grid, std::size_t taps) {
  return (planes_size(grid) + taps) * sizeof(float);
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

}  // namespace diacut
