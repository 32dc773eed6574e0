#include "affinity/kept_affinity.hpp"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "affinity/affinity.hpp"
#include "opencl/kernel_file.hpp"
#include "opencl/lanes.hpp"
#include "opencl/uploads.hpp"

namespace diacut {

namespace {

/// The pixels on the line between a pixel and a kept one, from the pixel on, without itself. Lines
/// are drawn from the pixel that comes first in reading order.
std::vector<StencilOffset> line_from(StencilOffset end) {
  if (end.dy > 0 || (end.dy == 0 && end.dx > 0)) return bresenham(end);
  std::vector<StencilOffset> line = bresenham({-end.dx, -end.dy});
  std::vector<StencilOffset> reversed;
  for (auto point = line.rbegin() + 1; point != line.rend(); ++point) {
    reversed.push_back({end.dx + point->dx, end.dy + point->dy});
  }
  reversed.push_back(end);
  return reversed;
}

int halved(int pixels) { return pixels >= 0 ? pixels / 2 : -((1 - pixels) / 2); }

/// Of kept_affinity.cl.
struct Lines {
  std::vector<std::int32_t> starts = {0};
  std::vector<std::int64_t> steps;
};

Lines lines_to(const KeptNeighbours& neighbours, const PlaneGrid& cells) {
  Lines lines;
  for (int parity = 0; parity < 4; ++parity) {
    const auto p = static_cast<std::size_t>(parity);
    for (int k = neighbours.first[p]; k < neighbours.first[p + 1]; ++k) {
      const StencilOffset end = neighbours.in_pixels(parity, static_cast<std::size_t>(k));
      if (end != StencilOffset{}) {
        for (const auto& [dx, dy] : line_from(end)) {
          const int x = parity % 2 + dx;
          const int y = parity / 2 + dy;
          const int plane = x - 2 * halved(x) + 2 * (y - 2 * halved(y));
          lines.steps.push_back(plane * static_cast<std::int64_t>(cells.pitch) +
                                halved(y) * std::int64_t{cells.stride} + halved(x));
        }
      }
      lines.starts.push_back(static_cast<std::int32_t>(lines.steps.size()));
    }
  }
  return lines;
}

KernelFile kept_kernels(Context& context, const AffinityParameters& parameters) {
  const PlaneGrid margins(1, 1, parameters.radius);
  return {context, "affinity/kept_affinity.cl",
          fmt::format("-DMARGIN_X={} -DMARGIN_Y={} -DWIDTH={} -DLOGISTIC={}", margins.columns,
                      margins.rows, vector_run(context.info()),
                      parameters.formula == AffinityFormula::kLogistic ? 1 : 0)};
}

}  // namespace

void ask_for_kept_kernels(Context& context, const AffinityParameters& parameters) {
  kept_kernels(context, parameters);
}

KeptAffinity kept_affinity(Context& context, std::span<const DeviceBoundary> maps,
                           const AffinityParameters& parameters) {
  const Grid& grid = maps.front().grid;
  const KeptNeighbours neighbours(parameters.radius);
  const PlaneGrid cells = PlaneGrid(grid.width, grid.height, parameters.radius).decimated();
  const std::size_t lanes = vector_run(context.info());
  const KernelFile kernels = kept_kernels(context, parameters);

  const std::size_t images = maps.size();
  KeptAffinity result{
      {cells, parameters.radius, static_cast<int>(images),
       context.allocate<float>(images * neighbours.size() * cells.pitch + kBehindPlanes,
                               "affinities to the kept pixels"),
       context.allocate<float>(images * 4 * cells.pitch + kBehindPlanes, "sums of the affinities")},
      {}};
  auto planes = context.allocate<float>(4 * cells.pitch + kBehindPlanes,
                                        "the boundary map, every other pixel");
  const Lines lines = lines_to(neighbours, cells);
  const auto first = device_table(
      context, std::vector<std::int32_t>(neighbours.first.begin(), neighbours.first.end()),
      "first neighbours");
  const auto starts = device_table(context, lines.starts, "first pixels of lines");
  const auto steps = device_table(context, lines.steps, "pixels of lines");
  const AffinityWeight weight = affinity_weight(parameters);
  const auto stride = static_cast<std::size_t>(cells.stride);
  const auto rows = static_cast<std::size_t>(cells.all_rows());
  const std::size_t group = plane_group(context.info());
  for (std::size_t k = 0; k < images; ++k) {
    kernels.launch("kept_split", cl::NDRange(round_up(stride, group), rows, 4),
                   cl::NDRange(group, 1, 1), maps[k].values, maps[k].valid, planes, grid.width,
                   grid.height, cells.stride, cells.all_rows(), cells.pitch);
    result.masks.push_back(context.allocate<float>(grid.rows(), "pixels with affinities"));
    kernels.launch("kept_affinity", cl::NDRange(round_up(stride / lanes, group), rows, 4),
                   cl::NDRange(group, 1, 1), planes, first, starts, steps,
                   result.interpolation.weights, k * neighbours.size() * cells.pitch,
                   result.interpolation.roots, k * 4 * cells.pitch, result.masks.back(), grid.width,
                   grid.height, cells.stride, cells.all_rows(), cells.pitch, weight.inverse_scale,
                   weight.bias, weight.slope);
  }
  return result;
}

ReferenceKeptAffinity reference_kept_affinity(const Grid& grid, const std::vector<float>& strength,
                                              const std::vector<std::uint8_t>& valid,
                                              const AffinityParameters& parameters) {
  const KeptNeighbours neighbours(parameters.radius);
  const PlaneGrid cells = PlaneGrid(grid.width, grid.height, parameters.radius).decimated();
  const std::vector<double> matrix = reference_affinity(grid, strength, valid, parameters);
  const Stencil stencil = affinity_stencil(parameters);
  const DiaShape shape = dia_shape(grid, stencil);
  ReferenceKeptAffinity result{std::vector<double>(neighbours.size() * cells.pitch, 0.0),
                               std::vector<double>(4 * cells.pitch, 0.0)};
  for (int y = 0; y < grid.height; ++y) {
    for (int x = 0; x < grid.width; ++x) {
      const int parity = x % 2 + 2 * (y % 2);
      const auto p = static_cast<std::size_t>(parity);
      const std::size_t cell = cells.element(x / 2, y / 2);
      const auto affinity_to = [&](int k) {
        const std::size_t d =
            stencil.index(neighbours.in_pixels(parity, static_cast<std::size_t>(k)));
        return matrix[d * shape.pitch +
                      static_cast<std::size_t>(y) * static_cast<std::size_t>(grid.width) +
                      static_cast<std::size_t>(x)];
      };
      double sum = 0;
      for (int k = neighbours.first[p]; k < neighbours.first[p + 1]; ++k) sum += affinity_to(k);
      if (!(sum > 0)) continue;
      result.roots[p * cells.pitch + cell] = 1 / std::sqrt(sum);
      for (int k = neighbours.first[p]; k < neighbours.first[p + 1]; ++k) {
        result.weights[static_cast<std::size_t>(k) * cells.pitch + cell] =
            affinity_to(k) / std::sqrt(sum);
      }
    }
  }
  return result;
}

}  // namespace diacut
