#pragma once

#include <cstdint>
#include <vector>

#include "region/plateaus.hpp"
#include "region/tile_regions.hpp"

/// @file
/// What tiles and joins leave for one another, as bytes of files.
namespace diacut {

std::vector<std::uint8_t> bytes_of(const TilePlateaus& plateaus);
std::vector<std::uint8_t> bytes_of(const Rim& rim);
std::vector<std::uint8_t> bytes_of(const TilePieces& pieces);
std::vector<std::uint8_t> bytes_of(const TileRegions& regions);

// They throw InputError where bytes are missing.
TilePlateaus plateaus_from(const std::vector<std::uint8_t>& bytes);
Rim rim_from(const std::vector<std::uint8_t>& bytes);
TilePieces pieces_from(const std::vector<std::uint8_t>& bytes);
TileRegions regions_from(const std::vector<std::uint8_t>& bytes);

}  // namespace diacut
