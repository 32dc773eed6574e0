#include "affinity/intervening_contour.hpp"

#include <fmt/format.h>

#include <map>
#include <tuple>

#include "opencl/arguments.hpp"

namespace diacut {

namespace {

constexpr char kFile[] = "affinity/intervening_contour.cl";

// Work-items round each row up to whole groups and load before they know that they are over.
int padded_stride(int stride, int radius) {
  return static_cast<int>(round_up(static_cast<std::size_t>(stride), kRowGroup)) + 2 * radius;
}

// The macro LINES: a tree of shared first steps, without a space, which would end the definition.
std::string lines_macro(const std::vector<ContourLine>& lines) {
  std::map<std::tuple<int, int, int>, int> steps;  // (step before, dx, dy) to step
  std::string text;
  for (const ContourLine& line : lines) {
    int at = 0;
    for (const ContourPoint& point : line.points) {
      const auto [found, is_new] =
          steps.try_emplace({at, point.dx, point.dy}, static_cast<int>(steps.size()) + 1);
      if (is_new) text += fmt::format("STEP({},{},{},{})", found->second, at, point.dx, point.dy);
      at = found->second;
    }
    const ContourPoint end = line.points.back();
    text += fmt::format("LINE({},{},{},{})", line.entry, at, end.dx, end.dy);
  }
  return text;
}

}  // namespace

AffinityContour::AffinityContour(Context& context, int width, int height, int stride,
                                 std::size_t pitch, int radius, std::size_t centre,
                                 const std::vector<ContourLine>& lines)
    : context_(&context),
      width_(width),
      height_(height),
      stride_(stride),
      radius_(radius),
      pitch_(pitch) {
  const std::string options =
      fmt::format("-DRADIUS={} -DCENTRE={} -DLINES={}", radius, centre, lines_macro(lines));
  pad_ = context.kernel(kFile, "affinity_pad", options);
  contour_ = context.kernel(kFile, "affinity_contour", options);
}

std::size_t AffinityContour::padded_size(int height, int stride, int radius) {
  return static_cast<std::size_t>(padded_stride(stride, radius)) *
         static_cast<std::size_t>(height + radius);
}

void AffinityContour::launch(const Buffer<float>& strength, const Buffer<std::uint8_t>& valid,
                             Buffer<float>& padded, Buffer<float>& values) {
  const int padded_row = padded_stride(stride_, radius_);
  set_arguments(pad_, strength, valid, padded, width_, height_, stride_, padded_row);
  launch_rows(*context_, pad_, static_cast<std::size_t>(padded_row),
              static_cast<std::size_t>(height_ + radius_));
  set_arguments(contour_, padded, values, stride_, padded_row, pitch_);
  launch_rows(*context_, contour_, static_cast<std::size_t>(stride_),
              static_cast<std::size_t>(height_));
}

}  // namespace diacut
