#include "affinity/affinity_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <tuple>

#include "opencl/arguments.hpp"
#include "opencl/lanes.hpp"

namespace diacut {

std::vector<StencilOffset> bresenham(StencilOffset end) {
  const int steps = std::max(std::abs(end.dx), std::abs(end.dy));
  const auto at = [steps](int total, int step) {
    const int size = (2 * step * std::abs(total) + steps) / (2 * steps);
    return total < 0 ? -size : size;
  };
  std::vector<StencilOffset> line;
  for (int step = 1; step <= steps; ++step) line.push_back({at(end.dx, step), at(end.dy, step)});
  return line;
}

namespace {

constexpr char kInterveningFile[] = "affinity/intervening_contour.cl";

// Launches round each row up to whole work-groups, and work-items past the end of a row load too.
int padded_stride(int stride, int radius) {
  return static_cast<int>(round_up(static_cast<std::size_t>(stride), kRowGroup)) + 2 * radius;
}

// The macro LINES: the pixels of all lines as a tree, in which lines share their first pixels. It
// has no spaces, which would end the macro in the build options.
std::string lines_macro(const std::vector<ContourLine>& lines) {
  std::map<std::tuple<int, int, int>, int>
      steps;  // From (step before, dx, dy) to the number of the step.
  std::string text;
  for (const ContourLine& line : lines) {
    int at = 0;
    for (const StencilOffset& point : line.points) {
      const auto [found, is_new] =
          steps.try_emplace({at, point.dx, point.dy}, static_cast<int>(steps.size()) + 1);
      if (is_new) text += fmt::format("STEP({},{},{},{})", found->second, at, point.dx, point.dy);
      at = found->second;
    }
    const StencilOffset end = line.points.back();
    text += fmt::format("LINE({},{},{},{})", line.entry, at, end.dx, end.dy);
  }
  return text;
}

std::string options_of(const Stencil& stencil, const std::vector<ContourLine>& lines) {
  return fmt::format("-DRADIUS={} -DCENTRE={} -DLINES={}", stencil.radius, stencil.centre(),
                     lines_macro(lines));
}

}  // namespace

InterveningContour::InterveningContour(Context& context, const Grid& grid, std::size_t pitch,
                                       const Stencil& stencil,
                                       const std::vector<ContourLine>& lines)
    : context_(&context), grid_(grid), radius_(stencil.radius), pitch_(pitch) {
  const std::string options = options_of(stencil, lines);
  pad_ = context.kernel(kInterveningFile, "intervening_pad", options);
  contour_ = context.kernel(kInterveningFile, "intervening_contour", options);
}

std::size_t InterveningContour::padded_size(const Grid& grid, int radius) {
  return static_cast<std::size_t>(padded_stride(grid.stride, radius)) *
         static_cast<std::size_t>(grid.height + radius);
}

void InterveningContour::launch(const Buffer<float>& boundary, const Buffer<std::uint8_t>& valid,
                                Buffer<float>& padded, Buffer<float>& values) {
  const int padded_row = padded_stride(grid_.stride, radius_);
  set_arguments(pad_, boundary, valid, padded, grid_.width, grid_.height, grid_.stride, padded_row);
  launch_rows(*context_, pad_, static_cast<std::size_t>(padded_row),
              static_cast<std::size_t>(grid_.height + radius_));
  set_arguments(contour_, padded, values, grid_.stride, padded_row, pitch_);
  launch_rows(*context_, contour_, static_cast<std::size_t>(grid_.stride),
              static_cast<std::size_t>(grid_.height));
}

AffinityWeigh::AffinityWeigh(Context& context, std::size_t diagonals, const AffinityWeight& weight)
    : context_(&context),
      weight_(weight),
      kernel_(context.kernel("affinity/weigh.cl", "affinity_weigh",
                             fmt::format("-DCENTRE={} -DLOGISTIC={} -DRUN={}", diagonals / 2,
                                         weight.logistic ? 1 : 0, vector_run(context.info())))) {}

void AffinityWeigh::launch(Buffer<float>& values, const Buffer<std::int64_t>& offsets,
                           std::size_t rows, std::size_t pitch) {
  set_arguments(kernel_, values, offsets, rows, pitch, weight_.inverse_scale, weight_.bias,
                weight_.slope);
  const std::size_t run = vector_run(context_->info());
  launch_rows(*context_, kernel_, round_up(pitch, run) / run, offsets.size() / 2 + 1);
}

namespace {

constexpr char kNormalizeFile[] = "affinity/normalize.cl";

}  // namespace

NormalizeKernels::NormalizeKernels(Context& context)
    : degree(context.kernel(kNormalizeFile, "affinity_degree", "")),
      normalize(context.kernel(kNormalizeFile, "affinity_normalize", "")) {}

void launch_affinity_normalize(Context& context, Buffer<float>& values,
                               const Buffer<std::int64_t>& offsets, std::size_t rows,
                               std::size_t pitch, Buffer<float>& sqrt_degree,
                               Buffer<float>& inverse) {
  NormalizeKernels kernels(context);
  set_arguments(kernels.degree, values, sqrt_degree, inverse, rows, pitch, offsets.size());
  launch_rows(context, kernels.degree, rows, 1);
  set_arguments(kernels.normalize, values, inverse, offsets, rows, pitch);
  launch_rows(context, kernels.normalize, rows, offsets.size());
}

}  // namespace diacut
