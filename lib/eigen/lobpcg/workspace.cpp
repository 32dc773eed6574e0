#include "eigen/lobpcg/workspace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "diacut/errors.hpp"

namespace diacut {

namespace {

/// At most so many lists of tiles are in use for each width: of one, two and three blocks, and of
/// two blocks with each other.
constexpr std::size_t kTileLists = 4;

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

/// Partial sums of all groups; segments of fewer elements never need more.
std::size_t partial_count(bool cpu, int columns, std::size_t rows, std::size_t segments) {
  const int tile = tile_of(cpu);
  const std::size_t chunk = large_chunk(cpu, rows);
  return round_up(rows, chunk) / chunk * segments * tile_count(columns, tile) * tile_values(tile);
}

}  // namespace

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

std::size_t Workspace::memory(int columns, std::size_t max_rows, std::size_t segments) {
  const auto wide = static_cast<std::size_t>(columns);
  std::size_t most = 0;
  for (const bool cpu : {false, true}) {
    const int tile = tile_of(cpu);
    const std::size_t totals = segments * tile_values(tile) * sizeof(std::uint64_t);
    const std::size_t lists = kTileLists * wide / 4 * sizeof(cl_int4);
    most = std::max(most, partial_count(cpu, columns, max_rows, segments) * sizeof(std::uint64_t) +
                              tile_count(columns, tile) * (totals + lists));
  }
  // Uploads that are in use at once, in words: a rotation with the Ritz values and places before
  // it, a selection of columns, and Ritz values alone or an order of columns.
  const std::size_t rotation = 32 + segments * (3 * wide * wide + 2 * wide + 1);
  const std::size_t others = segments * 6 * wide;
  return most + (rotation + others) * sizeof(std::int32_t);
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
      totals_(context, active_->all() * tile_count(columns, tile_) * tile_values(tile_),
              "dot products"),
      uploads_(context) {}

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
  return fmt::format("{} -DFLOATS={} -DGROUP={}", block_options(device(), columns_), kFloatsSummed,
                     group_);
}

}  // namespace diacut
