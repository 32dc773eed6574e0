#pragma once

#include <cstddef>
#include <tuple>

#include "region/plateaus.hpp"
#include "region/tile_regions.hpp"
#include "tiles/tile_folder.hpp"

/// @file
/// What tiles and joins leave for one another, in files of their own. What reads throws what
/// TileFolder::read() throws.
namespace diacut {

// The arrays of a summary, in the order of its file.
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

}  // namespace diacut
