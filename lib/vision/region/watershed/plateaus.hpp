#pragma once

#include <cstdint>
#include <vector>

#include "region/tiling/tiling.hpp"
#include "region/watershed/watershed.hpp"

namespace diacut {

/// What other tiles have to know of the plateaus that reach the edge of a tile, so that the
/// distances within plateaus (region/watershed/watershed.hpp) are those in the whole picture. Lists
/// of the outermost pixels are in the order of RimPlaces.
struct TilePlateaus {
  std::vector<Level> level;  ///< Of the outermost pixels.
  /// The distance of the outermost pixels, as far as the tile shows it: 0 with a lower neighbour in
  /// the tile; otherwise as in Rim.
  std::vector<std::uint32_t> distance;
  /// Pixels that have no lower neighbour in the tile, as y * width + x, ascending: those at the
  /// edge, and those that touch such ones on the same plateau. Pixels of level 0 are left out,
  /// since nothing is lower.
  std::vector<std::uint32_t> pixels;
  std::vector<std::uint32_t> distance_of;  ///< By element of `pixels`, as `distance`.
};

/// The plateaus at the edge of a tile. strength and valid as in watershed(), of the tile.
TilePlateaus plateaus_at_edge(const std::vector<float>& strength,
                              const std::vector<std::uint8_t>& valid, int width, int height);

/// What lies around each tile, from the plateaus of all. Each tile is gone through again whenever a
/// distance beside it became smaller, until none does.
std::vector<Rim> join_plateaus(const Tiling& tiling, std::vector<TilePlateaus> tiles);

inline RimPlaces places_of(const TileArea& area) {
  return {static_cast<std::size_t>(area.width), static_cast<std::size_t>(area.height)};
}

/// Calls visit(place, other, place_there) for each place around a tile where another tile has the
/// pixel: `place_there` is where that pixel stands among the outermost ones of the other tile.
template <class Visit>
void each_neighbouring_pixel(const Tiling& tiling, std::size_t tile, const Visit& visit) {
  const RimPlaces mine = places_of(tiling.area(tile));
  const std::size_t columns = tiling.columns();
  using Place = std::size_t (RimPlaces::*)(std::size_t) const;
  const auto along = [&](std::size_t other, std::size_t pixels, Place here, Place there) {
    const RimPlaces theirs = places_of(tiling.area(other));
    for (std::size_t k = 0; k < pixels; ++k) visit((mine.*here)(k), other, (theirs.*there)(k));
  };
  const std::size_t column = tile % columns;
  const std::size_t row = tile / columns;
  if (row > 0) along(tile - columns, mine.width, &RimPlaces::top, &RimPlaces::bottom);
  if (column > 0) along(tile - 1, mine.height, &RimPlaces::left, &RimPlaces::right);
  if (column + 1 < columns) along(tile + 1, mine.height, &RimPlaces::right, &RimPlaces::left);
  if (row + 1 < tiling.rows()) {
    along(tile + columns, mine.width, &RimPlaces::bottom, &RimPlaces::top);
  }
}

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
