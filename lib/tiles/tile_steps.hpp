#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "diacut/tiles.hpp"
#include "map/picture_blocks.hpp"
#include "pipeline/part_maps.hpp"
#include "tiles/tile_folder.hpp"

namespace diacut {

/// What a step works with.
struct TileWork {
  const TilePlan& plan;
  Tiling tiling;
  const TileFolder& folder;
};

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

}  // namespace diacut
