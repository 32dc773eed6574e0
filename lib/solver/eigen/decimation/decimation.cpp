#include "eigen/decimation/decimation.hpp"

#include <fmt/format.h>

#include "opencl/lanes.hpp"
#include "opencl/uploads.hpp"

namespace diacut {

namespace {

template <class T>
Buffer<T> table(Context& context, const std::vector<T>& words) {
  return device_table(context, words, "tables of the decimation");
}

/// The vectors that a work-item computes: a GPU has more work-items than a small grid has pixels.
int vectors_at_once(const DeviceInfo& device) {
  return device.kind == DeviceKind::kCpu ? Decimation::kGroup : 2;
}

KernelFile decimation_kernels(Context& context, int radius) {
  const PlaneGrid margins(1, 1, radius);
  return {context, "eigen/decimation/decimation.cl",
          fmt::format("-DMARGIN_X={} -DMARGIN_Y={} -DDIAGONALS={} -DNEIGHBOURS={} -DWIDTH={} "
                      "-DEACH={}",
                      margins.columns, margins.rows, disc_stencil(radius).size(),
                      KeptNeighbours(radius).size(), vector_run(context.info()),
                      vectors_at_once(context.info()))};
}

}  // namespace

Decimation::Decimation(Context& context, int radius, int images)
    : context_(&context),
      radius_(radius),
      images_(images),
      each_(vectors_at_once(context.info())),
      lanes_(vector_run(context.info())),
      group_(plane_group(context.info())),
      stencil_(disc_stencil(radius)),
      neighbours_(radius),
      kernels_(decimation_kernels(context, radius)) {
  std::vector<std::int32_t> of_neighbours;
  for (int parity = 0; parity < 4; ++parity) {
    const auto p = static_cast<std::size_t>(parity);
    for (int k = neighbours_.first[p]; k < neighbours_.first[p + 1]; ++k) {
      const auto at = static_cast<std::size_t>(k);
      const std::size_t diagonal = stencil_.index(neighbours_.in_pixels(parity, at));
      of_neighbours.insert(of_neighbours.end(), {neighbours_.cells[at].dx, neighbours_.cells[at].dy,
                                                 static_cast<std::int32_t>(diagonal), 0});
    }
  }
  of_neighbours_ = table(context, of_neighbours);
  first_ =
      table(context, std::vector<std::int32_t>(neighbours_.first.begin(), neighbours_.first.end()));
  std::vector<std::int32_t> half;
  std::vector<std::int32_t> starts = {0};
  for (std::size_t d = stencil_.centre(); d < stencil_.size(); ++d) {
    const auto [dx, dy] = stencil_.entries[d];
    half.insert(half.end(), {dx, dy});
    for (std::size_t p = 0; p < 4; ++p) {
      for (int j = neighbours_.first[p]; j < neighbours_.first[p + 1]; ++j) {
        const StencilOffset& to_j = neighbours_.cells[static_cast<std::size_t>(j)];
        for (int k = neighbours_.first[p]; k < neighbours_.first[p + 1]; ++k) {
          const StencilOffset& to_k = neighbours_.cells[static_cast<std::size_t>(k)];
          if (to_k.dx - to_j.dx == dx && to_k.dy - to_j.dy == dy) pairs_.push_back({j, k, to_j});
        }
      }
    }
    starts.push_back(static_cast<std::int32_t>(pairs_.size()));
  }
  half_offsets_ = table(context, half);
  starts_ = table(context, starts);
}

template <class... Arguments>
void Decimation::launch(const char* name, std::size_t columns, std::size_t rows, std::size_t planes,
                        const Arguments&... arguments) {
  kernels_.launch(name, cl::NDRange(round_up(columns, group_), rows, planes),
                  cl::NDRange(group_, 1, 1), arguments...);
}

Buffer<float> Decimation::matrix(const Interpolation& interpolation) {
  const PlaneGrid& grid = interpolation.cells;
  const auto images = static_cast<std::size_t>(images_);
  auto values = context_->allocate<float>(images * stencil_.size() * grid.pitch + kBehindPlanes,
                                          "the affinity matrix of the decimated grid");
  std::vector<std::int64_t> of_pairs;
  const auto pitch = static_cast<std::int64_t>(grid.pitch);
  for (const Pair& pair : pairs_) {
    const std::int64_t pixel = -std::int64_t{pair.cell.dy} * grid.stride - pair.cell.dx;
    of_pairs.insert(of_pairs.end(), {pair.first * pitch + pixel, pair.second * pitch + pixel});
  }
  const Buffer<std::int64_t> terms = table(*context_, of_pairs);
  launch("decimation_product", static_cast<std::size_t>(grid.stride) / lanes_,
         stencil_.centre() + 1, images * static_cast<std::size_t>(grid.height),
         interpolation.weights, terms, starts_, half_offsets_, values, grid.height, grid.stride,
         grid.pitch);
  return values;
}

Interpolation Decimation::split(const Buffer<float>& matrix, const PlaneGrid& grid) {
  const PlaneGrid cells = grid.decimated();
  const auto images = static_cast<std::size_t>(images_);
  Interpolation result{
      cells, radius_, images_,
      context_->allocate<float>(images * neighbours_.size() * cells.pitch + kBehindPlanes,
                                "affinities to the kept pixels"),
      context_->allocate<float>(images * 4 * cells.pitch + kBehindPlanes,
                                "sums of the affinities")};
  launch("decimation_split", static_cast<std::size_t>(cells.stride),
         static_cast<std::size_t>(cells.all_rows()), 4 * images, matrix, grid.width, grid.height,
         grid.stride, grid.pitch, of_neighbours_, first_, result.weights, result.roots,
         cells.stride, cells.all_rows(), cells.pitch);
  return result;
}

Buffer<std::int32_t> Decimation::offsets(const PlaneGrid& grid) {
  std::vector<std::int32_t> offsets;
  for (const StencilOffset& entry : stencil_.entries) {
    offsets.push_back(entry.dy * grid.stride + entry.dx);
  }
  return table(*context_, offsets);
}

Buffer<float> Decimation::zeros(const PlaneGrid& grid, int vectors) {
  auto buffer = context_->allocate<float>(
      static_cast<std::size_t>(images_ * vectors) * grid.pitch + kBehindPlanes,
      "vectors of the decimated grid");
  buffer.fill(0);
  return buffer;
}

void Decimation::step(const Step& fixed, int step, const Buffer<float>& x,
                      const Buffer<float>& before, Buffer<float>& out) {
  const PlaneGrid& grid = fixed.grid;
  const int groups = fixed.vectors / each_;
  launch("decimation_step", round_up(static_cast<std::size_t>(grid.width), lanes_) / lanes_,
         static_cast<std::size_t>(grid.height), static_cast<std::size_t>(images_ * groups),
         fixed.matrix, fixed.offsets, x, before, out, fixed.degrees, fixed.steps, step, images_,
         groups, grid.width, grid.stride, grid.pitch);
}

Decimation::Target Decimation::in_planes(const PlaneGrid& grid) {
  return {grid.width, grid.height, grid.stride, grid.pitch, grid.element(0, 0)};
}

void Decimation::interpolate(const Interpolation& interpolation, int vectors,
                             const Buffer<float>& coarse, const Target& target,
                             Buffer<float>& fine) {
  const PlaneGrid& cells = interpolation.cells;
  const int groups = vectors / each_;
  launch("decimation_interpolate", static_cast<std::size_t>(cells.stride) / lanes_,
         static_cast<std::size_t>(cells.height), static_cast<std::size_t>(4 * images_ * groups),
         interpolation.weights, interpolation.roots, of_neighbours_, first_, coarse, fine, groups,
         cells.stride, cells.pitch, target.width, target.height, target.stride, target.pitch,
         target.origin);
}

}  // namespace diacut
