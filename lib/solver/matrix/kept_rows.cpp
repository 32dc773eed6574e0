#include "matrix/kept_rows.hpp"

#include <fmt/format.h>

#include "opencl/lanes.hpp"
#include "opencl/uploads.hpp"

namespace diacut {

namespace {

constexpr char kTables[] = "tables of kept pixels";

/// Vectors that a work-item interpolates: a GPU has more work-items than a small grid has pixels.
int vectors_at_once(const DeviceInfo& device) { return device.kind == DeviceKind::kCpu ? 4 : 2; }

/// The diagonals of R'R from the middle one on, and the pairs of diagonals of R' whose products add
/// up to each.
struct ProductTables {
  std::vector<cl_int4> diagonals;  ///< dx, dy, its number and that of the opposite one.
  std::vector<cl_int2> pairs;
  std::vector<std::int32_t> starts = {0};  ///< Of each diagonal, in `pairs`.
};

ProductTables product_tables(const Stencil& disc, const Stencil& coarse) {
  ProductTables tables;
  for (std::size_t d = disc.centre(); d < disc.size(); ++d) {
    const auto [dx, dy] = disc.entries[d];
    const std::size_t to = coarse.index({dx, dy});
    tables.diagonals.push_back(
        {{dx, dy, static_cast<cl_int>(to), static_cast<cl_int>(coarse.opposite(to))}});
    // Both lead to one pixel: from J by (hx, hy), and from J + (dx, dy) by that less 2 (dx, dy).
    for (std::size_t first = 0; first < disc.size(); ++first) {
      const auto [hx, hy] = disc.entries[first];
      const std::size_t second = disc.index({hx - 2 * dx, hy - 2 * dy});
      if (second == disc.size()) continue;
      tables.pairs.push_back({{static_cast<cl_int>(first), static_cast<cl_int>(second)}});
    }
    tables.starts.push_back(static_cast<std::int32_t>(tables.pairs.size()));
  }
  return tables;
}

}  // namespace

KernelFile kept_row_kernels(Context& context) {
  return {context, "matrix/kept_rows.cl",
          fmt::format("-DWIDTH={} -DEACH={}", lane_shape(context.info()).width,
                      vectors_at_once(context.info()))};
}

Batch coarser(const Batch& fine) {
  const int width = (fine.image.width + 1) / 2;
  return {Grid{width, (fine.image.height + 1) / 2}, fine.count, (fine.height + 1) / 2};
}

KeptNeighbours::KeptNeighbours(const Stencil& disc) {
  for (int parity = 0; parity < 4; ++parity) {
    const int px = parity % 2;
    const int py = parity / 2;
    for (int dy = -disc.radius; dy <= disc.radius; ++dy) {
      for (int dx = -disc.radius; dx <= disc.radius; ++dx) {
        const std::size_t back = disc.index({px - 2 * dx, py - 2 * dy});
        if (back < disc.size()) {
          neighbours.push_back({{dx, dy, static_cast<cl_int>(back), 0}});
        }
      }
    }
    first.push_back(static_cast<std::int32_t>(neighbours.size()));
  }
}

void multiply_kept_rows(Context& context, const KeptRows& rows, const Stencil& stencil,
                        Buffer<float>& coarse, std::size_t pitch) {
  const KernelFile kernels = kept_row_kernels(context);
  const ProductTables tables = product_tables(rows.stencil, stencil);
  const Grid grid = rows.kept.grid();
  const std::size_t group = plane_group(context.info());
  const std::size_t lanes = lane_shape(context.info()).width;
  const auto width = static_cast<std::size_t>(grid.width);
  if (!stencil.is_disc()) coarse.fill(0);  // The product writes entries of the disc.
  kernels.launch(
      "kept_product",
      cl::NDRange(round_up(round_up(width, lanes) / lanes, group), tables.diagonals.size(),
                  static_cast<std::size_t>(grid.height)),
      cl::NDRange(group, 1, 1), rows.values, device_table(context, tables.diagonals, kTables),
      device_table(context, tables.pairs, kTables), device_table(context, tables.starts, kTables),
      coarse, grid.width, grid.height, rows.pitch(), pitch);
}

void interpolate_kept_rows(Context& context, const KeptRows& rows, int image, int count,
                           const Buffer<float>& coarse, std::size_t coarse_pitch,
                           Buffer<float>& fine, std::size_t fine_pitch) {
  if (count < 2) return;
  const KernelFile kernels = kept_row_kernels(context);
  const KeptNeighbours near(rows.stencil);
  const Grid& all = rows.fine.image;
  const Grid& kept = rows.kept.image;
  const std::size_t group = plane_group(context.info());
  const std::size_t lanes = lane_shape(context.info()).width;
  const int each = vectors_at_once(context.info());
  const auto groups = static_cast<std::size_t>((count - 1 + each - 1) / each);
  const auto width = static_cast<std::size_t>(kept.width);
  kernels.launch("kept_interpolate",
                 cl::NDRange(round_up(round_up(width, lanes) / lanes, group), groups,
                             static_cast<std::size_t>(all.height)),
                 cl::NDRange(group, 1, 1), rows.values, rows.pitch(),
                 static_cast<std::size_t>(image) * rows.kept.segment(),
                 device_table(context, near.neighbours, kTables),
                 device_table(context, near.first, kTables), count, coarse, coarse_pitch, fine,
                 fine_pitch, all.width, kept.width, kept.height);
}

}  // namespace diacut
