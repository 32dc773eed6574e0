#include "eigen/lobpcg/workspace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "diacut/errors.hpp"

namespace diacut {

namespace {

bool is_cpu(const DeviceInfo& device) { return device.kind == DeviceKind::kCpu; }

int tile_of(bool cpu) { return cpu ? 8 : 4; }

std::size_t large_chunk(bool cpu, std::size_t rows) {
  const std::size_t most_groups = 512;
  const std::size_t least = cpu ? 512 : 64;
  return std::max(least, round_up(round_up(rows, most_groups) / most_groups, kFloatsSummed));
}

std::size_t small_chunk(bool cpu, std::size_t rows) {
  return cpu ? large_chunk(true, rows) : std::max<std::size_t>(256, large_chunk(false, rows) / 16);
}

/// Tiles on and above the diagonals of S'S and S'(M S), S being three blocks.
std::size_t tile_count(int columns, int tile) {
  const std::size_t side = static_cast<std::size_t>((columns + tile - 1) / tile) * 3;
  return side * (side + 1);
}

std::size_t tile_values(int tile) { return static_cast<std::size_t>(tile * tile); }

std::size_t total_count(bool cpu, int columns, std::size_t segments) {
  return segments * tile_count(columns, tile_of(cpu)) * tile_values(tile_of(cpu));
}

/// Partial sums of all groups; segments of fewer elements never need more.
std::size_t partial_count(bool cpu, int columns, std::size_t rows, std::size_t segments) {
  const std::size_t chunk = large_chunk(cpu, rows);
  return round_up(rows, chunk) / chunk * total_count(cpu, columns, segments);
}

}  // namespace

BlockPool::BlockPool(Context& context, int count, std::size_t floats, bool cleared) {
  free_.reserve(static_cast<std::size_t>(count));
  for (int k = 0; k < count; ++k) {
    free_.push_back(
        std::make_unique<Buffer<float>>(context.allocate<float>(floats, "a block of vectors")));
    if (cleared) free_.back()->fill(0);
  }
}

BlockPool::Lease BlockPool::take(int columns) {
  if (free_.empty()) throw std::logic_error("all blocks of vectors are in use");
  Lease::Owned buffer(free_.back().release(), {this});
  free_.pop_back();
  return {columns, std::move(buffer)};
}

std::size_t rows_in_local_memory(const DeviceInfo& device, int columns) {
  const std::size_t bytes = 3 * static_cast<std::size_t>(columns) * sizeof(float);
  const std::size_t fit = device.local_memory / 2 / bytes;
  if (fit == 0) {
    throw DeviceError(
        fmt::format("blocks of {} vectors are more than {} can combine in its {} bytes of local "
                    "memory: lower eigen.vectors or use --solver lanczos",
                    columns, device.name, device.local_memory));
  }
  return std::min<std::size_t>(std::bit_floor(fit), is_cpu(device) ? 16 : 64);
}

std::size_t block_group(const DeviceInfo& device) {
  return is_cpu(device) ? 1
                        : std::bit_floor(std::clamp<std::size_t>(device.max_work_group, 1, 128));
}

Workspace::Workspace(Context& context, int columns, std::size_t max_rows,
                     std::shared_ptr<const ActiveSegments> active)
    : context_(&context),
      columns_(columns),
      active_(or_one_image(context, std::move(active))),
      tile_(tile_of(is_cpu(context.info()))),
      combined_rows_(rows_in_local_memory(context.info(), columns)),
      group_(block_group(context.info())),
      partials_(context, partial_count(is_cpu(context.info()), columns, max_rows, active_->all()),
                "partial dot products"),
      totals_(context, total_count(is_cpu(context.info()), columns, active_->all()),
              "dot products") {}

std::size_t Workspace::memory(DeviceKind device, int columns, std::size_t max_rows, int segments) {
  const bool cpu = device == DeviceKind::kCpu;
  const auto all = static_cast<std::size_t>(segments);
  return (partial_count(cpu, columns, max_rows, all) + total_count(cpu, columns, all)) *
         sizeof(std::uint64_t);
}

std::size_t Workspace::sets() const {
  return static_cast<std::size_t>(columns_ / block_vector(device(), columns_));
}

int Workspace::narrow_columns(int wanted) const {
  return static_cast<int>(
      round_up(static_cast<std::size_t>(std::max(wanted, 1)), static_cast<std::size_t>(tile_)));
}

SegmentGroups Workspace::groups(const Segments& segments, std::size_t chunk) const {
  SegmentGroups groups;
  groups.chunk = chunk;
  groups.per_segment = round_up(segments.rows, chunk) / chunk;
  groups.all = groups.per_segment * active_->count();
  return groups;
}

SegmentGroups Workspace::large_groups(const Segments& segments) const {
  return groups(segments, large_chunk(cpu(), segments.rows));
}

SegmentGroups Workspace::small_groups(const Segments& segments) const {
  return groups(segments, small_chunk(cpu(), segments.rows));
}

std::string Workspace::options() const {
  return fmt::format("{} -DFLOATS={} -DGROUP={} -DTILE={} -DROWS={} -DAT_ONCE={}",
                     block_options(device(), columns_), kFloatsSummed, group_, tile_,
                     combined_rows_, std::min<std::size_t>(combined_rows_, cpu() ? 8 : 4));
}

const KernelFile& Workspace::kernels(std::string_view file) {
  const auto found = kernels_.find(file);
  if (found != kernels_.end()) return found->second;
  const KernelFile made(*context_, std::string(file), options());
  return kernels_.emplace(file, made).first->second;
}

}  // namespace diacut
