#pragma once

#include <cstdint>
#include <vector>

#include "region/basin_pieces.hpp"
#include "region/plateaus.hpp"
#include "region/tile_regions.hpp"

/// @file
/// What tiles and joins leave for one another, as bytes of files.
namespace diacut {

/// Merges of some basins of a picture, which are leaves 1, 2, ... here in the order of `basins`.
struct BasinTree {
  std::vector<std::int32_t> basins;  ///< Their numbers, ascending.
  std::vector<Merge> merges;
};
/// `joins`: in the order of before().
BasinTree tree_of(std::vector<Join> joins);

std::vector<std::uint8_t> bytes_of(const TilePlateaus& plateaus);
std::vector<std::uint8_t> bytes_of(const Rim& rim);
std::vector<std::uint8_t> bytes_of(const TilePieces& pieces);
std::vector<std::uint8_t> bytes_of(const TileRegions& regions);
std::vector<std::uint8_t> bytes_of(const BasinTree& tree);

// They throw InputError where bytes are missing.
TilePlateaus plateaus_from(const std::vector<std::uint8_t>& bytes);
Rim rim_from(const std::vector<std::uint8_t>& bytes);
TilePieces pieces_from(const std::vector<std::uint8_t>& bytes);
TileRegions regions_from(const std::vector<std::uint8_t>& bytes);
BasinTree tree_from(const std::vector<std::uint8_t>& bytes);

}  // namespace diacut
