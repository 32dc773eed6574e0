#include "tiles/tile_steps.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "region/basin_pieces.hpp"
#include "region/least_pixels.hpp"
#include "region/plateaus.hpp"
#include "region/tile_regions.hpp"
#include "region/watershed.hpp"
#include "tiles/bytes.hpp"
#include "tiles/summaries.hpp"

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

/// Leaves the values of an area that lies in a larger one.
template <class Value>
void keep_part(std::vector<Value>& values, const TileArea& from, const TileArea& area) {
  if (values.empty() || from.pixels() == area.pixels()) return;
  auto to = values.begin();
  for (std::int64_t y = area.y - from.y; y < area.y - from.y + area.height; ++y) {
    const auto row = values.begin() + static_cast<std::ptrdiff_t>(y * from.width + area.x - from.x);
    to = std::copy(row, row + area.width, to);
  }
  values.resize(area.pixels());
}

/// Where there is data; empty: everywhere.
std::vector<std::uint8_t> valid_of(const std::vector<float>& strength) {
  // Without a branch, so that a compiler makes vector instructions of it.
  bool gaps = false;
  for (const float value : strength) gaps |= std::isnan(value);
  if (!gaps) return {};
  std::vector<std::uint8_t> valid(strength.size());
  std::transform(strength.begin(), strength.end(), valid.begin(),
                 [](float value) { return std::uint8_t{!std::isnan(value)}; });
  return valid;
}

void clear_gaps(std::vector<float>& strength) {
  std::replace_if(
      strength.begin(), strength.end(), [](float value) { return std::isnan(value); }, 0.0F);
}

}  // namespace

void map_tile(const TileWork& work, std::size_t tile, const PictureBlocks& picture,
              PartMaps& maps) {
  const TileArea area = work.tiling.area(tile);
  const CueParameters& cue = work.plan.parameters.cue;
  const auto x = static_cast<int>(area.x);
  const auto y = static_cast<int>(area.y);
  const auto width = static_cast<int>(work.plan.width);
  const auto height = static_cast<int>(work.plan.height);
  const bool gaps = !work.plan.whole;
  const Stretch columns = cue_needs(cue, width, {x, x + area.width}, gaps);
  const Stretch rows = cue_needs(cue, height, {y, y + area.height}, gaps);
  const Image image = picture.read(columns.begin, rows.begin, columns.length(), rows.length(),
                                   work.plan.range, work.plan.damaged_as_gaps);
  PartMap part = maps.map(image, {area.width, area.height, area.width},
                          {width, height, x, y, columns.begin, rows.begin});
  for (std::size_t i = 0; i < part.values.size(); ++i) {
    if (part.valid[i] == 0) part.values[i] = kNoData;
  }
  work.folder.write_arrays<float>(TileFile::kMap, tile, {part.values});
}

void contours_tile(const TileWork& work, std::size_t tile, PartMaps& maps) {
  const TileArea area = work.tiling.area(tile);
  const TileArea around = with_margin(work.tiling, area, kOrientationReach);
  std::vector<float> map = work.folder.window(TileFile::kMap, 0, around, 0, kNoData);
  const auto full_file = work.folder.read(TileFile::kFull);
  const float full = ByteReader(full_file).take<float>().at(0);
  std::vector<std::uint8_t> valid = valid_of(map);
  keep_part(valid, around, area);
  PartContours found = maps.contours(std::move(map), around.width, around.height, full);
  keep_part(found.strength, around, area);
  keep_part(found.orientation, around, area);
  work.folder.write(TileFile::kPlateaus, tile,
                    bytes_of(plateaus_at_edge(found.strength, valid, area.width, area.height)));
  for (std::size_t i = 0; i < valid.size(); ++i) {
    if (valid[i] == 0) found.strength[i] = kNoData;
  }
  work.folder.write_arrays<float>(TileFile::kContours, tile, {found.strength, found.orientation});
}

void basins_tile(const TileWork& work, std::size_t tile) {
  const TileArea area = work.tiling.area(tile);
  std::vector<float> strength = work.folder.window(TileFile::kContours, 0, area, 0, kNoData);
  const std::vector<std::uint8_t> valid = valid_of(strength);
  clear_gaps(strength);
  const Rim rim = rim_from(work.folder.read(TileFile::kRim, tile));
  const TileBasins basins = watershed_of_tile(strength, valid, area.width, area.height, rim);
  work.folder.write(TileFile::kPieces, tile, bytes_of(pieces_of(basins)));
  work.folder.write_arrays<std::int32_t>(TileFile::kBasins, tile, {basins.parts.of_pixel});
}

void regions_tile(const TileWork& work, std::size_t tile) {
  SurroundedTile around;
  around.area = work.tiling.area(tile);
  around.strength = work.folder.window(TileFile::kContours, 0, around.area, 1, 0.0F);
  clear_gaps(around.strength);
  around.orientation = work.folder.window(TileFile::kContours, 1, around.area, 1, 0.0F);
  std::vector<std::int32_t> numbers;
  std::size_t numbered = work.tiling.tiles();  // The tile that they are of.
  around.basins = work.folder.window(TileFile::kBasins, 0, around.area, 1, std::int32_t{0},
                                     [&](std::size_t other, std::span<std::int32_t> pieces) {
                                       if (other != std::exchange(numbered, other)) {
                                         const auto file =
                                             work.folder.read(TileFile::kNumbers, other);
                                         numbers = ByteReader(file).take<std::int32_t>();
                                       }
                                       for (std::int32_t& piece : pieces)
                                         piece = numbers.at(static_cast<std::size_t>(piece));
                                     });
  const RegionParameters& region = work.plan.parameters.region;
  TileRegions regions = regions_of_tile(std::move(around), region.direction);
  const std::int64_t least = least_pixels(region, read_sizes(work).pixels);
  const UnitedBasins united = unite_small(regions, least);
  work.folder.write_arrays<LeafOfBasin>(TileFile::kLeaves, tile, {united.leaf_of});
  if (!work.plan.ultrametric.empty()) {
    work.folder.write(TileFile::kUnited, tile, bytes_of(tree_of(united.joins)));
  }
  work.folder.write(TileFile::kRegions, tile, bytes_of(regions));
}

BasinSizes read_sizes(const TileWork& work) {
  const auto file = work.folder.read(TileFile::kSizes);
  const auto sizes = ByteReader(file).take<std::int64_t>();
  return {sizes.at(0), sizes.at(1)};
}

RunLabels read_labels(const TileWork& work) {
  const auto file = work.folder.read(TileFile::kLabels);
  ByteReader reader(file);
  RunLabels labels;
  labels.count = reader.take<std::int64_t>().at(0);
  labels.leaves = reader.take<std::int32_t>();
  labels.of_leaf = reader.take<std::int32_t>();
  return labels;
}

}  // namespace diacut
