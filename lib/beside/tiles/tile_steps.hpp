#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "diacut/tiles.hpp"
#include "map/picture_blocks.hpp"
#include "pipeline/part_maps.hpp"
#include "region/tiling/tile_regions.hpp"
#include "region/watershed/plateaus.hpp"
#include "tiles/tile_folder.hpp"

namespace diacut {

/// The plan as the text of its file.
std::string plan_text(const TilePlan& plan);
/// The plan of a file. Throws InputError where it is none of this version of the program.
TilePlan read_tile_plan(const std::string& path);

/// Where the files of a plan's tiles are: the folder of the plan's file.
std::string folder_of(const std::string& plan_path);

inline Tiling tiling_of(const TilePlan& plan) { return {plan.width, plan.height, plan.tile_size}; }

/// Throws InputError where the picture's file has changed since the plan was made.
void check_source(const TilePlan& plan);

/// What a step works with.
struct TileWork {
  const TilePlan& plan;
  Tiling tiling;
  const TileFolder& folder;
};

// What tiles and joins leave for one another, in files of their own: the arrays of a summary, in
// the order of its file. What reads throws what TileFolder::read() throws.
inline auto arrays_of(TilePlateaus& plateaus) {
  return std::tie(plateaus.level, plateaus.distance, plateaus.pixels, plateaus.distance_of);
}
inline auto arrays_of(Rim& rim) { return std::tie(rim.level, rim.distance); }
inline auto arrays_of(TilePieces& pieces) {
  return std::tie(pieces.first_pixel, pieces.pixels, pieces.at_edge, pieces.meetings);
}
inline auto arrays_of(TileRegions& regions) {
  return std::tie(regions.borders, regions.joins, regions.remaining, regions.leaves,
                  regions.open.pieces, regions.open.corners, regions.open.sides);
}

template <class Summary>
void write_summary(const TileFolder& folder, TileFile kind, std::size_t tile, Summary summary) {
  std::apply([&](const auto&... arrays) { folder.write(kind, tile, arrays...); },
             arrays_of(summary));
}

template <class Summary>
Summary read_summary(const TileFolder& folder, TileFile kind, std::size_t tile) {
  Summary summary;
  std::apply([&](auto&... arrays) { folder.read(kind, tile, arrays...); }, arrays_of(summary));
  return summary;
}

// The tiles' part of the steps. Each leaves its files in the folder.
void map_tile(const TileWork& work, std::size_t tile, const PictureBlocks& picture, PartMaps& maps);
void contours_tile(const TileWork& work, std::size_t tile, PartMaps& maps);
void basins_tile(const TileWork& work, std::size_t tile);
void regions_tile(const TileWork& work, std::size_t tile);

// The joins. Each leaves its files in the folder, that of the run last.
void join_maps(const TileWork& work);
void join_contours(const TileWork& work);
void join_basins(const TileWork& work);
void join_all_regions(const TileWork& work, std::vector<std::string>& notes);

/// The pieces of basins in an area with `margin` pixels around it, 0 beyond the picture, each
/// replaced by what table_of(tile) has for it, which is asked for once for each tile there.
using TableOf = std::function<std::shared_ptr<const std::vector<std::int32_t>>(std::size_t)>;
std::vector<std::int32_t> pieces_in(const TileWork& work, const TileArea& area, int margin,
                                    const TableOf& table_of);

/// How many basins a picture has, and their pixels.
struct BasinSizes {
  std::int64_t count = 0;
  std::int64_t pixels = 0;
};
BasinSizes read_sizes(const TileWork& work);

/// The labels of the leaves.
struct RunLabels {
  std::int64_t count = 0;             ///< Of regions.
  std::vector<std::int32_t> leaves;   ///< The leaves' numbers, ascending.
  std::vector<std::int32_t> of_leaf;  ///< By element of `leaves`.
};
RunLabels read_labels(const TileWork& work);

/// Writes the results of a run whose tiles are joined, the labels last. They are computed in
/// windows that do not depend on the tiles, so that the files do not either.
/// `frame`: where the picture lies. `folder`: takes files that are removed at the end. `memory`:
/// that may be taken for windows, bytes. `painted`: is called with the share that is done, up to 1.
/// Returns the number of regions.
std::int64_t paint_results(const TileWork& work, const MapFrame& frame, const std::string& folder,
                           std::uint64_t memory, const std::function<void(double)>& painted);

}  // namespace diacut
