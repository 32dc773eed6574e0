#pragma once

#include <cstdint>
#include <vector>

#include "region/tiling.hpp"
#include "region/watershed.hpp"

namespace diacut {

/// What the join has to know of the pieces of basins in a tile. Elements k of lists by piece belong
/// to piece k + 1.
struct TilePieces {
  std::vector<std::uint32_t> first_pixel;  ///< By piece, in the tile: y * width + x. Ascending.
  std::vector<std::uint32_t> pixels;       ///< By piece: how many it has.
  /// The pieces of the outermost pixels, in the order of RimPlaces; 0 without data.
  std::vector<std::int32_t> at_edge;
  std::vector<RimMeeting> meetings;

  std::size_t count() const { return first_pixel.size(); }
};

TilePieces pieces_of(const TileBasins& basins);

/// The basins of a picture, numbered 1..count in the order in which a scan first meets them.
struct BasinNumbers {
  std::int32_t count = 0;
  /// [tile][piece]: the number of the piece's basin. Element 0 is 0.
  std::vector<std::vector<std::int32_t>> of_piece;
  std::int64_t pixels = 0;  ///< Of all basins.
};

/// Unites the pieces of all tiles. Throws InputError where the pieces of two tiles do not fit, or
/// where there are 2^31 basins or more.
BasinNumbers number_basins(const Tiling& tiling, const std::vector<TilePieces>& tiles);

}  // namespace diacut
