#include "contour/boundary_orientation.hpp"

#include <fmt/format.h>

#include "opencl/arguments.hpp"
#include "opencl/lanes.hpp"

namespace diacut {

namespace {

constexpr std::size_t kFilters = 3;

/// Whole vectors of any width, on every device the same.
std::size_t plane_stride(int width) { return round_up(static_cast<std::size_t>(width), 16); }

std::size_t planes_size(int width, int height) {
  return kFilters * static_cast<std::size_t>(height) * plane_stride(width);
}

}  // namespace

BoundaryOrientation::BoundaryOrientation(Context& context, int width, int height, int stride,
                                         const std::vector<float>& taps)
    : context_(&context),
      width_(width),
      height_(height),
      stride_(stride),
      plane_stride_(static_cast<int>(plane_stride(width))),
      lanes_(lane_shape(context.info()).width),
      taps_(context.allocate<float>(taps.size(), "filters of boundaries")),
      planes_(context.allocate<float>(planes_size(width, height), "boundaries filtered along x")) {
  taps_.upload(taps);
  const std::string options =
      fmt::format("-DREACH={} -DWIDTH={}", taps.size() / kFilters / 2, lanes_);
  constexpr char kFile[] = "contour/boundary_orientation.cl";
  rows_ = context.kernel(kFile, "orientation_rows", options);
  columns_ = context.kernel(kFile, "orientation_columns", options);
}

std::size_t BoundaryOrientation::memory(int width, int height, std::size_t taps) {
  return (planes_size(width, height) + taps) * sizeof(float);
}

void BoundaryOrientation::launch(const Buffer<float>& strength, Buffer<float>& orientation) {
  const std::size_t columns = round_up(static_cast<std::size_t>(width_), lanes_) / lanes_;
  set_arguments(rows_, strength, taps_, planes_, width_, height_, stride_, plane_stride_);
  launch_rows(*context_, rows_, columns, static_cast<std::size_t>(height_));
  set_arguments(columns_, planes_, taps_, orientation, width_, height_, stride_, plane_stride_);
  launch_rows(*context_, columns_, columns, static_cast<std::size_t>(height_));
}

}  // namespace diacut
