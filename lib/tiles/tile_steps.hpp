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

/// The labels of a tile's pixels. `labels`: those of the basins.
std::vector<std::int32_t> labels_of_tile(const TileWork& work, std::size_t tile,
                                         const std::vector<std::int32_t>& labels);

/// The number of regions, and the labels of the basins.
struct BasinLabels {
  std::int64_t count = 0;
  std::vector<std::int32_t> of_basin;
};
BasinLabels read_labels(const TileWork& work);

}  // namespace diacut
