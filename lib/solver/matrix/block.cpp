#include "matrix/block.hpp"

#include <fmt/format.h>

#include <bit>
#include <numeric>
#include <utility>

namespace diacut {

int block_vector(const DeviceInfo& device, int columns) {
  return device.kind == DeviceKind::kCpu && columns % 8 == 0 ? 8 : 4;
}

int program_columns(const DeviceInfo& device, int columns) {
  return device.kind == DeviceKind::kCpu ? columns : 0;
}

std::string block_options(const DeviceInfo& device, int columns) {
  const std::string vector = fmt::format("-DVEC={}", block_vector(device, columns));
  return columns == 0 ? vector : fmt::format("-DCOLUMNS={} {}", columns, vector);
}

BlockRuns block_runs(const DeviceInfo& device, int columns) {
  BlockRuns runs;
  runs.sets = static_cast<std::size_t>(columns / block_vector(device, columns));
  if (device.kind != DeviceKind::kCpu) {
    runs.group = std::bit_floor(std::clamp<std::size_t>(device.max_work_group, 1, 128));
    return runs;
  }
  for (const std::size_t taken : {2U, 3U, 4U}) {
    if (runs.sets % taken == 0) runs.taken = taken;
  }
  runs.tile = runs.taken > 2 ? 4 : 8;
  runs.run = 64;
  return runs;
}

BlockRuns plane_runs(const DeviceInfo& device, int columns) {
  if (!takes_planes(device, columns)) return block_runs(device, columns);
  BlockRuns runs;
  // What a work-item holds of image rows of four columns stays below 64 KiB.
  runs.run = 256;
  runs.rows = 16;
  return runs;
}

bool takes_planes(const DeviceInfo& device, int columns) {
  return device.kind == DeviceKind::kCpu && columns == 4;
}

std::string BlockRuns::options() const {
  if (rows > 1) return fmt::format("-DRUN={} -DROWS={}", run, rows);
  return fmt::format("-DRUN={} -DTILE={} -DTAKEN={} -DGROUP={}", run, tile, taken, group);
}

ActiveSegments::ActiveSegments(Context& context, int segments)
    : list_(context.allocate<std::int32_t>(static_cast<std::size_t>(segments),
                                           "places of images in a batch")) {
  set_all();
}

void ActiveSegments::set(const std::vector<std::int32_t>& places) {
  if (places == places_) return;
  places_ = places;
  list_.upload_later(places_);
}

void ActiveSegments::set_all() {
  std::vector<std::int32_t> all(list_.size());
  std::iota(all.begin(), all.end(), 0);
  set(all);
}

std::shared_ptr<const ActiveSegments> or_one_image(Context& context,
                                                   std::shared_ptr<const ActiveSegments> active) {
  return active ? std::move(active) : std::make_shared<const ActiveSegments>(context, 1);
}

void set_argument(cl::Kernel& kernel, cl_uint& index, const NormalizedMatrix& matrix) {
  if (matrix.form() == MatrixForm::kDia) {
    set_argument(kernel, index, matrix.dia().values);
    set_argument(kernel, index, matrix.shape().pitch);
    return;
  }
  const SymmetricDia& compressed = matrix.compressed();
  set_argument(kernel, index, compressed.upper);
  set_argument(kernel, index, compressed.diagonal);
  set_argument(kernel, index, compressed.layout.stride);
}

std::string matrix_bands(const Stencil& stencil, MatrixForm form, MatrixPart part) {
  const std::vector<StencilOffset>& entries = stencil.entries;
  const std::size_t centre = stencil.centre();
  const bool compressed = form == MatrixForm::kCompressed;
  const auto left_out = [&](std::size_t d) {
    return (compressed && d == centre) ||
           (part == MatrixPart::kDisc && !stencil.in_disc(entries[d]));
  };
  // The compressed form holds the main diagonal apart: it ends a band, and belongs to none.
  const auto breaks = [&](std::size_t d) {
    return entries[d].dy != entries[d - 1].dy || entries[d].dx != entries[d - 1].dx + 1 ||
           left_out(d) || left_out(d - 1);
  };
  std::string bands;
  for (std::size_t d = 0; d < entries.size();) {
    std::size_t end = d + 1;
    while (end < entries.size() && !breaks(end)) ++end;
    if (!left_out(d)) {
      bands += fmt::format("BAND({},{},{},{})", d, entries[d].dy, entries[d].dx, end - d);
    }
    d = end;
  }
  return bands;
}

std::string matrix_options(const DeviceInfo& device, const Stencil& stencil, MatrixForm form,
                           MatrixPart part) {
  const bool compressed = form == MatrixForm::kCompressed;
  return fmt::format(
      "-DBANDS={}{} -DREACH={}{}", matrix_bands(stencil, form, part),
      device.kind == DeviceKind::kCpu ? " -DBAND_TABLE" : "",
      part == MatrixPart::kDisc ? stencil.disc_radius : stencil.radius,
      compressed ? fmt::format(" -DBITS=16 -DDIAGONAL={}", stencil.centre()) : std::string());
}

}  // namespace diacut
