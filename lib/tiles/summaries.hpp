#pragma once

#include <cstddef>

#include "region/plateaus.hpp"
#include "region/tile_regions.hpp"
#include "tiles/tile_folder.hpp"

/// @file
/// What tiles and joins leave for one another, in files of their own.
namespace diacut {

void write_summary(const TileFolder& folder, std::size_t tile, const TilePlateaus& plateaus);
void write_summary(const TileFolder& folder, std::size_t tile, const Rim& rim);
void write_summary(const TileFolder& folder, std::size_t tile, const TilePieces& pieces);
void write_summary(const TileFolder& folder, std::size_t tile, const TileRegions& regions);

// They throw what TileFolder::read() throws.
TilePlateaus read_plateaus(const TileFolder& folder, std::size_t tile);
Rim read_rim(const TileFolder& folder, std::size_t tile);
TilePieces read_pieces(const TileFolder& folder, std::size_t tile);
TileRegions read_regions(const TileFolder& folder, std::size_t tile);

}  // namespace diacut
