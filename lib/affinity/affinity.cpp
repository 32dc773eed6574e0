#include "affinity/affinity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "affinity/affinity_kernels.hpp"

namespace diacut {

namespace {

// The logistic function that the authors of gPb fitted to boundaries drawn by people:
// p = 1 / (1 + exp(-(bias - slope ic))).
constexpr double kLogisticBias = 1.8682;
constexpr double kLogisticSlope = 1.3113 / 0.3130;

constexpr char kPadded[] = "the boundary map with a border";

double weight(double ic, const AffinityParameters& parameters) {
  if (parameters.formula == AffinityFormula::kExponential) return std::exp(-ic / parameters.scale);
  const double p = 1 / (1 + std::exp(-(kLogisticBias - kLogisticSlope * ic)));
  return std::exp(-(1 - p) / parameters.scale);
}

// The lines of the stencil entries after the middle one, which lead to pixels later in reading
// order.
std::vector<ContourLine> contour_lines(const Stencil& stencil) {
  std::vector<ContourLine> lines;
  for (std::size_t k = stencil.centre() + 1; k < stencil.size(); ++k) {
    lines.push_back({k, bresenham(stencil.entries[k])});
  }
  return lines;
}

Buffer<std::int64_t> upload_offsets(Context& context, const DiaShape& shape) {
  auto offsets = context.allocate<std::int64_t>(shape.diagonals(), "the matrix's offsets");
  offsets.upload(shape.offsets);
  return offsets;
}

}  // namespace

Stencil affinity_stencil(const AffinityParameters& parameters) {
  return strided_stencil(parameters.radius, parameters.strides);
}

AffinityWeight affinity_weight(const AffinityParameters& parameters) {
  return {parameters.formula == AffinityFormula::kLogistic,
          static_cast<float>(1 / parameters.scale), static_cast<float>(kLogisticBias),
          static_cast<float>(kLogisticSlope)};
}

namespace {

InterveningContour contour_kernels(Context& context, const Grid& grid,
                                   const AffinityParameters& parameters) {
  const Stencil stencil = affinity_stencil(parameters);
  return {context, grid, dia_pitch(grid.rows()), stencil, contour_lines(stencil)};
}

void launch_contours(Context& context, InterveningContour& kernels, const BoundaryMap& boundary,
                     const AffinityParameters& parameters, DiaMatrix& matrix) {
  auto padded = context.allocate<float>(
      InterveningContour::padded_size(boundary.grid, affinity_stencil(parameters).radius), kPadded);
  kernels.launch(boundary.values, boundary.valid, padded, matrix.values);
}

}  // namespace

void intervening_contours(Context& context, const BoundaryMap& boundary,
                          const AffinityParameters& parameters, DiaMatrix& matrix) {
  InterveningContour kernels = contour_kernels(context, boundary.grid, parameters);
  launch_contours(context, kernels, boundary, parameters, matrix);
}

AffinityKernels::AffinityKernels(Context& context, const Grid& grid,
                                 const AffinityParameters& parameters)
    : contour(contour_kernels(context, grid, parameters)),
      weigh(context, affinity_stencil(parameters).size(), affinity_weight(parameters)),
      normalize(context) {}

DiaMatrix affinity_matrix(Context& context, const BoundaryMap& boundary,
                          const AffinityParameters& parameters) {
  const DiaShape shape = dia_shape(boundary.grid, affinity_stencil(parameters));
  DiaMatrix matrix{shape, context.allocate<float>(shape.stored(), "the affinity matrix")};
  // All kernels before the first launch, so that they are built together.
  AffinityKernels kernels(context, boundary.grid, parameters);
  launch_contours(context, kernels.contour, boundary, parameters, matrix);

  const Buffer<std::int64_t> offsets = upload_offsets(context, shape);
  kernels.weigh.launch(matrix.values, offsets, shape.rows, shape.pitch);
  return matrix;
}

NormalizedMatrix normalize(Context& context, const Batch& batch, DiaMatrix affinity,
                           const AffinityParameters& parameters) {
  const DiaShape& shape = affinity.shape;
  auto sqrt_degree = context.allocate<float>(shape.rows, "square roots of the degrees");
  auto inverse = context.allocate<float>(shape.rows, "inverse square roots of the degrees");
  const Buffer<std::int64_t> offsets = upload_offsets(context, shape);
  launch_affinity_normalize(context, affinity.values, offsets, shape.rows, shape.pitch, sqrt_degree,
                            inverse);
  return {batch, affinity_stencil(parameters), std::move(affinity.values), std::move(sqrt_degree)};
}

std::vector<double> reference_affinity(const Grid& grid, const std::vector<float>& strength,
                                       const std::vector<std::uint8_t>& valid,
                                       const AffinityParameters& parameters) {
  const Stencil stencil = affinity_stencil(parameters);
  const DiaShape shape = dia_shape(grid, stencil);
  const auto element = [&grid](int x, int y) {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(grid.stride) +
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
