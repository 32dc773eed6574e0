#include "tiles/tile_steps.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <utility>

#include "core/large_memory.hpp"
#include "core/parallel.hpp"
#include "region/cuts/leaf_cut.hpp"
#include "region/watershed/watershed.hpp"

namespace diacut {

namespace {

constexpr float kNoData = std::numeric_limits<float>::quiet_NaN();

/// The part of a tile's surroundings within the picture.
TileArea with_margin(const Tiling& tiling, const TileArea& area, int margin) {
  const std::int64_t x = std::max<std::int64_t>(area.x - margin, 0);
  const std::int64_t y = std::max<std::int64_t>(area.y - margin, 0);
  const auto end_x = std::min(area.x + area.width + margin, tiling.width);
  const auto end_y = std::min(area.y + area.height + margin, tiling.height);
  return {x, y, static_cast<int>(end_x - x), static_cast<int>(end_y - y)};
}

/// Fewer pixels are not worth another thread.
constexpr std::size_t kLeastPixels = std::size_t{1} << 16;

/// Leaves the values of an area that lies in a larger one.
template <class Value>
void keep_part(std::vector<Value>& values, const TileArea& from, const TileArea& area) {
  if (values.empty() || from.pixels() == area.pixels()) return;
  const std::vector<Value> all = std::exchange(values, large_vector<Value>(area.pixels()));
  const auto width = static_cast<std::size_t>(area.width);
  const auto first = static_cast<std::size_t>((area.y - from.y) * from.width + area.x - from.x);
  parallel_ranges(static_cast<std::size_t>(area.height), 1 + kLeastPixels / width,
                  [&](std::size_t y, std::size_t end) {
                    for (; y < end; ++y) {
                      const Value* row =
                          all.data() + first + y * static_cast<std::size_t>(from.width);
                      std::copy_n(row, width, values.data() + y * width);
                    }
                  });
}

/// Where there is data; empty: everywhere.
std::vector<std::uint8_t> valid_of(const std::vector<float>& strength) {
  std::atomic<bool> has_gaps = false;
  parallel_ranges(strength.size(), kLeastPixels, [&](std::size_t begin, std::size_t end) {
    // Without a branch, so that a compiler makes vector instructions of it.
    bool gaps = false;
    for (std::size_t i = begin; i < end; ++i) gaps |= std::isnan(strength[i]);
    if (gaps) has_gaps = true;
  });
  if (!has_gaps) return {};
  auto valid = large_vector<std::uint8_t>(strength.size());
  parallel_ranges(strength.size(), kLeastPixels, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) valid[i] = std::uint8_t{!std::isnan(strength[i])};
  });
  return valid;
}

void clear_gaps(std::vector<float>& strength) {
  parallel_ranges(strength.size(), kLeastPixels, [&](std::size_t begin, std::size_t end) {
    std::replace_if(
        strength.begin() + static_cast<std::ptrdiff_t>(begin),
        strength.begin() + static_cast<std::ptrdiff_t>(end),
        [](float value) { return std::isnan(value); }, 0.0F);
  });
}

/// Leaves no number where `valid`, unless it is empty, is 0.
void mark_gaps(std::vector<float>& values, const std::vector<std::uint8_t>& valid) {
  parallel_ranges(valid.size(), kLeastPixels, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (valid[i] == 0) values[i] = kNoData;
    }
  });
}

}  // namespace

void map_tile(const TileWork& work, std::size_t tile, const PictureBlocks& picture,
              PartMaps& maps) {
  const TileArea area = work.tiling.area(tile);
  const BoundaryParameters& boundary = work.plan.parameters.boundary;
  const auto x = static_cast<int>(area.x);
  const auto y = static_cast<int>(area.y);
  const auto width = static_cast<int>(work.plan.width);
  const auto height = static_cast<int>(work.plan.height);
  const bool gaps = !work.plan.whole;
  const Stretch columns = boundary_needs(boundary, width, {x, x + area.width}, gaps);
  const Stretch rows = boundary_needs(boundary, height, {y, y + area.height}, gaps);
  const Image image =
      picture.read({columns.begin, rows.begin, columns.length(), rows.length()}, work.plan.range);
  PartMap part =
      maps.map(image, {area.width, area.height}, {width, height, x, y, columns.begin, rows.begin});
  mark_gaps(part.values, part.valid);
  work.folder.write(TileFile::kMap, tile, part.values);
}

void contours_tile(const TileWork& work, std::size_t tile, PartMaps& maps) {
  const TileArea area = work.tiling.area(tile);
  const TileArea around = with_margin(work.tiling, area, kOrientationReach);
  std::vector<float> map = work.folder.window(TileFile::kMap, 0, around, 0, kNoData);
  std::vector<float> full;
  work.folder.read(TileFile::kFull, 0, full);
  std::vector<std::uint8_t> valid = valid_of(map);
  keep_part(valid, around, area);
  Contours found = maps.contours(std::move(map), around.width, around.height, full.at(0));
  keep_part(found.strength, around, area);
  keep_part(found.orientation, around, area);
  write_summary(work.folder, TileFile::kPlateaus, tile,
                plateaus_at_edge(found.strength, valid, area.width, area.height));
  mark_gaps(found.strength, valid);
  work.folder.write(TileFile::kContours, tile, found.strength, found.orientation);
}

void basins_tile(const TileWork& work, std::size_t tile) {
  const TileArea area = work.tiling.area(tile);
  std::vector<float> strength = work.folder.window(TileFile::kContours, 0, area, 0, kNoData);
  const std::vector<std::uint8_t> valid = valid_of(strength);
  clear_gaps(strength);
  const Rim rim = read_summary<Rim>(work.folder, TileFile::kRim, tile);
  const TileBasins basins = watershed_of_tile(strength, valid, area.width, area.height, rim);
  write_summary(work.folder, TileFile::kPieces, tile, pieces_of(basins));
  work.folder.write(TileFile::kBasins, tile, basins.parts.values);
}

void regions_tile(const TileWork& work, std::size_t tile) {
  SurroundedTile around;
  around.area = work.tiling.area(tile);
  around.strength = work.folder.window(TileFile::kContours, 0, around.area, 1, 0.0F);
  clear_gaps(around.strength);
  around.orientation = work.folder.window(TileFile::kContours, 1, around.area, 1, 0.0F);
  around.basins = pieces_in(work, around.area, 1, [&](std::size_t other) {
    auto numbers = std::make_shared<std::vector<std::int32_t>>();
    work.folder.read(TileFile::kNumbers, other, *numbers);
    return numbers;
  });
  const RegionParameters& region = work.plan.parameters.region;
  TileRegions regions = regions_of_tile(std::move(around), region.direction);
  const std::int64_t least = least_pixels(region, read_sizes(work).pixels);
  const std::vector<LeafOfBasin> leaf_of = unite_small(regions, least);
  work.folder.write(TileFile::kLeaves, tile, leaf_of);
  write_summary(work.folder, TileFile::kRegions, tile, std::move(regions));
}

std::vector<std::int32_t> pieces_in(const TileWork& work, const TileArea& area, int margin,
                                    const TableOf& table_of) {
  std::vector<std::int32_t> pieces =
      work.folder.window(TileFile::kBasins, 0, area, margin, std::int32_t{0});
  for (const WindowPart& part : work.folder.window_parts(area, margin)) {
    const auto table = table_of(part.tile);
    const std::size_t least = 1 + kLeastPixels / static_cast<std::size_t>(part.area.width);
    parallel_ranges(static_cast<std::size_t>(part.area.height), least,
                    [&](std::size_t y, std::size_t end) {
                      for (; y < end; ++y) {
                        for (std::int32_t& piece : part.row(pieces, static_cast<int>(y))) {
                          piece = table->at(static_cast<std::size_t>(piece));
                        }
                      }
                    });
  }
  return pieces;
}

BasinSizes read_sizes(const TileWork& work) {
  std::vector<std::int64_t> sizes;
  work.folder.read(TileFile::kSizes, 0, sizes);
  return {sizes.at(0), sizes.at(1)};
}

RunLabels read_labels(const TileWork& work) {
  std::vector<std::int64_t> count;
  RunLabels labels;
  work.folder.read(TileFile::kLabels, 0, count, labels.leaves, labels.of_leaf);
  labels.count = count.at(0);
  return labels;
}

}  // namespace diacut
