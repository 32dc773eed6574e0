#pragma once

#include <cstdint>
#include <vector>

#include "region/arcs.hpp"
#include "region/borders.hpp"
#include "region/merge_tree.hpp"
#include "region/tiling.hpp"

namespace diacut {

/// Maps of a tile with the pixels around it: (width + 2) * (height + 2) values, row by row.
struct SurroundedTile {
  TileArea area;                   ///< Without the pixels around it.
  std::vector<float> strength;     ///< As in hierarchy().
  std::vector<float> orientation;  ///< As in hierarchy(), or empty with a direction of 0.
  /// The basins of the picture; 0 without data and outside of the picture.
  std::vector<std::int32_t> basins;
};

/// A leaf of the hierarchy: a basin, or several that are one.
struct Leaf {
  std::int64_t pixels = 0;
  std::int32_t number = 0;  ///< The least number of its basins.

  void add(const Leaf& other) { pixels += other.pixels; }
};

/// That a basin is part of a leaf.
struct LeafOfBasin {
  std::int32_t basin = 0;
  std::int32_t leaf = 0;
};

/// What the join has to know of the boundaries and merges in a tile. Basins and corners are
/// numbered as in the whole picture.
struct TileRegions {
  /// Between basins, as far as the tile tells it. In the order of (first, second).
  std::vector<Border> borders;
  /// The merges that happen whatever other tiles hold, in the order of before().
  std::vector<Join> joins;
  /// What is left. Those of basins that other tiles have a part in may be incomplete.
  std::vector<Boundary> remaining;
  std::vector<OpenBoundary> open;
  /// The basins with pixels in the tile, of which the pixels in the tile are counted. In the order
  /// of their numbers.
  std::vector<Leaf> leaves;
};

/// Arcs and merges of a tile. `direction` as in strength_tree().
TileRegions regions_of_tile(SurroundedTile tile, double direction);

/// Makes one leaf of all basins that a merge in the tile makes one region of less than `least`
/// pixels: without_small_regions() never parts them again. Returns the basins that have another
/// leaf than themselves, in the order of their numbers.
std::vector<LeafOfBasin> unite_small(TileRegions& tile, std::int64_t least);

/// Merges of a whole picture.
struct JoinedRegions {
  std::vector<Join> joins;      ///< In the order of before().
  std::vector<Border> borders;  ///< As find_borders() gives them.
  std::vector<Leaf> leaves;     ///< In the order of their numbers.
};

/// The same with leaves numbered 1..leaves.size() in their order.
void number_leaves(JoinedRegions& regions);

/// Joins the regions of all tiles. The joins are those of
/// merge_greedily() for the whole picture. Throws InputError where boundaries of two tiles do not
/// fit.
JoinedRegions join_regions(std::vector<TileRegions> tiles, double direction);

}  // namespace diacut
