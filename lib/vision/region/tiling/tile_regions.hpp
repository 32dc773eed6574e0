#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "region/arcs/arcs.hpp"
#include "region/arcs/borders.hpp"
#include "region/tiling/tiling.hpp"
#include "region/tree/merge_tree.hpp"

namespace diacut {

/// Finds numbers in an ascending list, as std::lower_bound() does, but by way of a table: of
/// millions of numbers that lie about evenly, one or two places in memory are read in place of
/// twenty.
class Places {
 public:
  /// `numbers`: must outlive the object. None is negative.
  explicit Places(std::span<const std::int32_t> numbers) : numbers_(numbers) {
    if (numbers.empty()) return;
    const std::uint32_t range = offset(numbers.back());
    while ((range >> shift_) > numbers.size()) ++shift_;
    begins_.reserve((range >> shift_) + 2);
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      const std::uint32_t bucket = offset(numbers[k]) >> shift_;
      while (begins_.size() <= bucket) begins_.push_back(static_cast<std::uint32_t>(k));
    }
    begins_.push_back(static_cast<std::uint32_t>(numbers.size()));
  }

  /// The place of the first number that is not less.
  std::size_t of(std::int32_t number) const {
    if (numbers_.empty() || number <= numbers_.front()) return 0;
    if (number > numbers_.back()) return numbers_.size();
    const std::uint32_t bucket = offset(number) >> shift_;
    const auto begin = numbers_.begin() + static_cast<std::ptrdiff_t>(begins_[bucket]);
    const auto end = numbers_.begin() + static_cast<std::ptrdiff_t>(begins_[bucket + 1]);
    return static_cast<std::size_t>(std::lower_bound(begin, end, number) - numbers_.begin());
  }

 private:
  std::uint32_t offset(std::int32_t number) const {
    return static_cast<std::uint32_t>(number) - static_cast<std::uint32_t>(numbers_.front());
  }

  std::span<const std::int32_t> numbers_;
  unsigned shift_ = 0;
  /// By bucket of 2^shift_ numbers, the place of the first that is in it or in a later one.
  std::vector<std::uint32_t> begins_;
};

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
  /// Between basins, as far as the tile shows it. In the order of (first, second).
  std::vector<Border> borders;
  /// The merges that happen whatever other tiles hold, in the order of before().
  std::vector<Join> joins;
  /// What is left. Those of basins that other tiles have a part in may be incomplete.
  std::vector<Boundary> remaining;
  OpenBoundaries open;
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
