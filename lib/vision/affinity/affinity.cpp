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

/// The pixels on the line to `end`, without the first and with the last. Lines are drawn from the
/// pixel that comes first in reading order, so that W is symmetric.
std::vector<StencilOffset> line_to(StencilOffset end) {
  if (end.dy > 0 || (end.dy == 0 && end.dx > 0)) return bresenham(end);
  std::vector<StencilOffset> line;
  const std::vector<StencilOffset> back = bresenham({-end.dx, -end.dy});
  for (auto point = back.rbegin() + 1; point != back.rend(); ++point) {
    line.push_back({end.dx + point->dx, end.dy + point->dy});
  }
  line.push_back(end);
  return line;
}

/// The macro LINES: the pixels of the lines to the stencil entries from `first` on, as a tree in
/// which lines share their first pixels. It has no spaces, which would end the macro in the build
/// options.
std::string lines_macro(const Stencil& stencil, std::size_t first) {
  // From (point before, dx, dy) to the number of the point.
  std::map<std::tuple<int, int, int>, int> points;
  std::string text;
  for (std::size_t k = first; k < stencil.size(); ++k) {
    if (k == stencil.centre()) continue;
    const StencilOffset& end = stencil.entries[k];
    int at = 0;
    for (const auto& [dx, dy] : line_to(end)) {
      const auto [found, is_new] =
          points.try_emplace({at, dx, dy}, static_cast<int>(points.size()) + 1);
      if (is_new) text += fmt::format("POINT({},{},{},{})", found->second, at, dx, dy);
      at = found->second;
    }
    text += fmt::format("LINE({},{},{},{})", k, at, end.dx, end.dy);
  }
  return text;
}

/// Which rows of W are computed: those of all pixels, or of every other row and column.
enum class Rows { kAll = 1, kKept = 2 };

KernelFile entry_kernels(Context& context, const AffinityParameters& parameters, Rows rows,
                         std::size_t width) {
  const Stencil stencil = affinity_stencil(parameters);
  return {context, "affinity/affinity.cl",
          fmt::format("-DRADIUS={} -DCENTRE={} -DSTEP={} -DWIDTH={} -DLOGISTIC={} -DLINES={}",
                      stencil.radius, stencil.centre(), static_cast<int>(rows), width,
                      parameters.formula == AffinityFormula::kLogistic ? 1 : 0,
                      lines_macro(stencil, rows == Rows::kAll ? stencil.centre() : 0))};
}

KernelFile normalize_kernels(Context& context) { return {context, "affinity/normalize.cl", ""}; }

KernelFile kept_kernels(Context& context) {
  return {context, "affinity/kept_affinity.cl",
          fmt::format("-DWIDTH={}", vector_run(context.info()))};
}

/// Sets the entries of W of the rows of `first`, all or the kept pixels of the map's grid, which
/// `matrix` has the layout of. `tables`: the last arguments of affinity_entries.
template <class... Tables>
void find_entries(Context& context, const DeviceBoundary& boundary,
                  const AffinityParameters& parameters, Rows rows, const Grid& first,
                  DiaMatrix& matrix, const Tables&... tables) {
  const std::size_t lanes = vector_run(context.info());
  // The pixels of an image row narrower than a vector go one by one.
  const std::size_t run = static_cast<std::size_t>(first.width) < lanes ? 1 : lanes;
  const KernelFile kernels = entry_kernels(context, parameters, rows, run);
  const int step = static_cast<int>(rows);
  const int radius = affinity_stencil(parameters).radius;
  const int padded_row = first.width + 2 * radius;
  const auto columns = static_cast<std::size_t>(padded_row);
  const std::size_t lines = static_cast<std::size_t>(first.height + radius * step);
  auto padded = context.allocate<float>(static_cast<std::size_t>(step * step) * columns * lines,
                                        "the boundary map with a border");
  kernels.launch("affinity_pad", cl::NDRange(round_up(columns, kRowGroup), lines, step * step),
                 cl::NDRange(kRowGroup, 1, 1), boundary.values, boundary.valid, padded,
                 boundary.grid.width, boundary.grid.height, padded_row, columns * lines);
  const std::size_t group = run == 1 ? kRowGroup : plane_group(context.info());
  const std::size_t items = round_up(static_cast<std::size_t>(first.width), run) / run;
  kernels.launch("affinity_entries", cl::NDRange(round_up(items, group), first.height),
                 cl::NDRange(group, 1), padded, matrix.values, first.width, padded_row,
                 static_cast<std::int64_t>(columns * lines), matrix.shape.pitch,
                 static_cast<float>(1 / parameters.scale), static_cast<float>(kLogisticBias),
                 static_cast<float>(kLogisticSlope), tables...);
}

DiaMatrix empty_matrix(Context& context, const Grid& grid, const AffinityParameters& parameters) {
  const DiaShape shape = dia_shape(grid, affinity_stencil(parameters));
  return {shape, context.allocate<float>(shape.stored(), "the affinity matrix")};
}

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

void ask_for_affinity_kernels(Context& context, const AffinityParameters& parameters) {
  entry_kernels(context, parameters, Rows::kAll, vector_run(context.info()));
  normalize_kernels(context);
}

void ask_for_kept_affinity_kernels(Context& context, const AffinityParameters& parameters) {
  entry_kernels(context, parameters, Rows::kKept, vector_run(context.info()));
  kept_kernels(context);
  kept_row_kernels(context);
}

DiaMatrix affinity_matrix(Context& context, const DeviceBoundary& boundary,
                          const AffinityParameters& parameters) {
  ask_for_affinity_kernels(context, parameters);
  DiaMatrix matrix = empty_matrix(context, boundary.grid, parameters);
  matrix.values.fill(0);
  const auto offsets = device_table(context, matrix.shape.offsets, "the matrix's offsets");
  find_entries(context, boundary, parameters, Rows::kAll, boundary.grid, matrix, offsets,
               matrix.shape.rows);
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

KeptAffinity kept_affinity(Context& context, const Batch& batch, const DeviceBoundary& boundary,
                           const AffinityParameters& parameters) {
  ask_for_kept_affinity_kernels(context, parameters);
  const KernelFile kernels = kept_kernels(context);
  const Stencil stencil = affinity_stencil(parameters);
  const KeptNeighbours near(stencil);
  const Batch kept = coarser(batch);
  const Grid all = batch.grid();
  const Grid grid = kept.grid();
  const std::size_t lanes = vector_run(context.info());
  const std::size_t group = plane_group(context.info());
  const auto width = static_cast<std::size_t>(grid.width);
  constexpr char kTables[] = "tables of kept pixels";

  DiaMatrix rows = empty_matrix(context, grid, parameters);
  const std::size_t pitch = rows.shape.pitch;
  const auto runs = [&](std::size_t elements) { return round_up(elements, lanes) / lanes; };
  auto kept_root = context.allocate<float>(grid.rows(), "square roots of the degrees");
  const auto kept_inverse =
      context.allocate<float>(grid.rows(), "inverse square roots of the degrees");
  find_entries(context, boundary, parameters, Rows::kKept, grid, rows, kept_root, kept_inverse);

  // Entries reach so far before the first kept pixel, and beyond the last one.
  const std::size_t before = static_cast<std::size_t>(stencil.radius / 2 + 1) * (width + 1);
  const std::size_t plane = pitch + 2 * before;
  auto inverse = context.allocate<float>(4 * plane, "inverse square roots of the degrees");
  inverse.fill(0);
  auto sqrt_degree = context.allocate<float>(all.rows(), "square roots of the degrees");
  kernels.launch(
      "kept_degrees",
      cl::NDRange(round_up(runs(width), group), static_cast<std::size_t>(grid.height), 4),
      cl::NDRange(group, 1, 1), rows.values, pitch, device_table(context, near.neighbours, kTables),
      device_table(context, near.first, kTables), sqrt_degree, inverse, plane, before, all.width,
      all.height, grid.width, grid.height);
  std::vector<std::int64_t> places;
  for (const auto& [dx, dy] : stencil.entries) {
    const std::int64_t parity = (dx & 1) + 2 * (dy & 1);
    places.push_back(parity * static_cast<std::int64_t>(plane) + static_cast<std::int64_t>(before) +
                     (dy >> 1) * std::int64_t{grid.width} + (dx >> 1));
  }
  kernels.launch_rows("kept_normalize", runs(pitch), stencil.size(), rows.values, pitch,
                      device_table(context, places, kTables), inverse, kept_inverse, grid.rows());
  KeptRows kept_rows{batch, kept, stencil, std::move(rows.values)};
  auto values = context.allocate<float>(pitch * stencil.size(), "the affinity matrix");
  multiply_kept_rows(context, kept_rows, stencil, values, pitch);
  return {std::move(kept_rows), std::move(sqrt_degree),
          NormalizedMatrix(kept, stencil, std::move(values), std::move(kept_root))};
}

std::vector<double> reference_affinity(const Grid& grid, const std::vector<float>& strength,
                                       const std::vector<std::uint8_t>& valid,
                                       const AffinityParameters& parameters) {
  const Stencil stencil = affinity_stencil(parameters);
  const DiaShape shape = dia_shape(grid, stencil);
  const auto element = [&grid](int x, int y) {
    return static_cast<std::size_t>(y) * grid.width + static_cast<std::size_t>(x);
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
