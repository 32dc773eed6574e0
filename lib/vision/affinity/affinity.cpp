#include "affinity/affinity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "opencl/kernel_file.hpp"
#include "opencl/lanes.hpp"
#include "opencl/uploads.hpp"

namespace diacut {

namespace {

// The logistic function that the authors of gPb fitted to boundaries drawn by people:
// p = 1 / (1 + exp(-(bias - slope ic))).
constexpr double kLogisticBias = 1.8682;
constexpr double kLogisticSlope = 1.3113 / 0.3130;

double weight(double ic, const AffinityParameters& parameters) {
  if (parameters.formula == AffinityFormula::kExponential) return std::exp(-ic / parameters.scale);
  const double p = 1 / (1 + std::exp(-(kLogisticBias - kLogisticSlope * ic)));
  return std::exp(-(1 - p) / parameters.scale);
}

/// The macro LINES: the pixels of the lines to the stencil entries after the middle one, which lead
/// to pixels later in reading order, as a tree in which lines share their first pixels. It has no
/// spaces, which would end the macro in the build options.
std::string lines_macro(const Stencil& stencil) {
  // From (step before, dx, dy) to the number of the step.
  std::map<std::tuple<int, int, int>, int> steps;
  std::string text;
  for (std::size_t k = stencil.centre() + 1; k < stencil.size(); ++k) {
    const StencilOffset& end = stencil.entries[k];
    int at = 0;
    for (const auto& [dx, dy] : bresenham(end)) {
      const auto [found, is_new] =
          steps.try_emplace({at, dx, dy}, static_cast<int>(steps.size()) + 1);
      if (is_new) text += fmt::format("STEP({},{},{},{})", found->second, at, dx, dy);
      at = found->second;
    }
    text += fmt::format("LINE({},{},{},{})", k, at, end.dx, end.dy);
  }
  return text;
}

KernelFile contour_kernels(Context& context, const AffinityParameters& parameters) {
  const Stencil stencil = affinity_stencil(parameters);
  return {context, "affinity/intervening_contour.cl",
          fmt::format("-DRADIUS={} -DCENTRE={} -DLINES={}", stencil.radius, stencil.centre(),
                      lines_macro(stencil))};
}

KernelFile weigh_kernels(Context& context, const AffinityParameters& parameters) {
  return {context, "affinity/weigh.cl",
          fmt::format("-DCENTRE={} -DLOGISTIC={} -DRUN={}", affinity_stencil(parameters).centre(),
                      affinity_weight(parameters).logistic ? 1 : 0, vector_run(context.info()))};
}

KernelFile normalize_kernels(Context& context) { return {context, "affinity/normalize.cl", ""}; }

}  // namespace

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

Stencil affinity_stencil(const AffinityParameters& parameters) {
  return strided_stencil(parameters.radius, parameters.strides);
}

AffinityWeight affinity_weight(const AffinityParameters& parameters) {
  return {parameters.formula == AffinityFormula::kLogistic,
          static_cast<float>(1 / parameters.scale), static_cast<float>(kLogisticBias),
          static_cast<float>(kLogisticSlope)};
}

void intervening_contours(Context& context, const DeviceBoundary& boundary,
                          const AffinityParameters& parameters, DiaMatrix& matrix) {
  const KernelFile kernels = contour_kernels(context, parameters);
  const Grid& grid = boundary.grid;
  const int radius = affinity_stencil(parameters).radius;
  const auto width = static_cast<std::size_t>(grid.width);
  // Launches round each row up to whole work-groups, and work-items past the end of a row load too.
  const int padded_row = static_cast<int>(round_up(width, kRowGroup)) + 2 * radius;
  const auto columns = static_cast<std::size_t>(padded_row);
  const std::size_t rows = static_cast<std::size_t>(grid.height) + static_cast<std::size_t>(radius);
  auto padded = context.allocate<float>(columns * rows, "the boundary map with a border");
  kernels.launch_rows("intervening_pad", columns, rows, boundary.values, boundary.valid, padded,
                      grid.width, grid.height, padded_row);
  kernels.launch_rows("intervening_contour", width, static_cast<std::size_t>(grid.height), padded,
                      matrix.values, grid.width, padded_row, matrix.shape.pitch);
}

void ask_for_affinity_kernels(Context& context, const AffinityParameters& parameters) {
  contour_kernels(context, parameters);
  weigh_kernels(context, parameters);
  normalize_kernels(context);
}

DiaMatrix affinity_matrix(Context& context, const DeviceBoundary& boundary,
                          const AffinityParameters& parameters) {
  const DiaShape shape = dia_shape(boundary.grid, affinity_stencil(parameters));
  DiaMatrix matrix{shape, context.allocate<float>(shape.stored(), "the affinity matrix")};
  ask_for_affinity_kernels(context, parameters);
  intervening_contours(context, boundary, parameters, matrix);
  const auto offsets = device_table(context, shape.offsets, "the matrix's offsets");
  const AffinityWeight weight = affinity_weight(parameters);
  const std::size_t run = vector_run(context.info());
  weigh_kernels(context, parameters)
      .launch_rows("affinity_weigh", round_up(shape.pitch, run) / run, shape.diagonals() / 2 + 1,
                   matrix.values, offsets, shape.rows, shape.pitch, weight.inverse_scale,
                   weight.bias, weight.slope);
  return matrix;
}

NormalizedMatrix normalize(Context& context, const Batch& batch, DiaMatrix affinity,
                           const AffinityParameters& parameters) {
  const KernelFile kernels = normalize_kernels(context);
  const DiaShape& shape = affinity.shape;
  auto sqrt_degree = context.allocate<float>(shape.rows, "square roots of the degrees");
  const auto inverse = context.allocate<float>(shape.rows, "inverse square roots of the degrees");
  const auto offsets = device_table(context, shape.offsets, "the matrix's offsets");
  kernels.launch_rows("affinity_degree", shape.rows, 1, affinity.values, sqrt_degree, inverse,
                      shape.rows, shape.pitch, shape.diagonals());
  kernels.launch_rows("affinity_normalize", shape.rows, shape.diagonals(), affinity.values, inverse,
                      offsets, shape.rows, shape.pitch);
  return {batch, affinity_stencil(parameters), std::move(affinity.values), std::move(sqrt_degree)};
}

std::vector<double> reference_affinity(const Grid& grid, const std::vector<float>& strength,
                                       const std::vector<std::uint8_t>& valid,
                                       const AffinityParameters& parameters) {
  const Stencil stencil = affinity_stencil(parameters);
  const DiaShape shape = dia_shape(grid, stencil);
  const auto element = [&grid](int x, int y) {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(grid.width) +
           static_cast<std::size_t>(x);
  };
  std::vector<double> values(shape.stored(), 0.0);
  for (int y = 0; y < grid.height; ++y) {
    for (int x = 0; x < grid.width; ++x) {
      for (std::size_t k = 0; k < stencil.size(); ++k) {
        const auto [dx, dy] = stencil.entries[k];
        const bool inside =
            x + dx >= 0 && x + dx < grid.width && y + dy >= 0 && y + dy < grid.height;
        if (!inside || !valid[element(x, y)] || !valid[element(x + dx, y + dy)]) continue;
        double& value = values[k * shape.pitch + element(x, y)];
        if (k == stencil.centre()) {
          value = 1;
          continue;
        }
        // The line is drawn from the pixel that comes first in reading order.
        const bool forward = k > stencil.centre();
        const int from_x = forward ? x : x + dx;
        const int from_y = forward ? y : y + dy;
        double ic = strength[element(from_x, from_y)];
        for (const auto& [step_x, step_y] :
             bresenham(forward ? StencilOffset{dx, dy} : StencilOffset{-dx, -dy})) {
          ic = std::max<double>(ic, strength[element(from_x + step_x, from_y + step_y)]);
        }
        value = ic > 1 ? 0 : weight(ic, parameters);  // A wall parts.
      }
    }
  }
  return values;
}

}  // namespace diacut
