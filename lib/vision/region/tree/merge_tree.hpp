#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "diacut/hierarchy.hpp"
#include "region/arcs/arcs.hpp"

namespace diacut {

/// The common boundary of two regions: an arc, or several that became one.
struct Boundary : Arc {
  std::uint64_t earliest = 0;  ///< The arc_order() of the first of its arcs.

  /// The mean strength, rounded.
  double mean() const { return static_cast<double>(strength) / static_cast<double>(length); }
  void add(const Boundary& other) {
    Arc::add(other);
    earliest = std::min(earliest, other.earliest);
  }
};

/// Numbers in the order of arcs: by the first part, then by the second.
inline std::uint64_t arc_order(std::int32_t first, std::int32_t second) {
  return std::uint64_t{static_cast<std::uint32_t>(first)} << 32 |
         static_cast<std::uint32_t>(second);
}

/// Joins the two neighbours with the least mean strength of their common boundary, again and again
/// until no neighbours are left (Arbelaez et al. 2011, section 3.2), or none up to the mean
/// strength `most`. Where two boundaries become one, their strengths and lengths are added, and it
/// counts as the earlier of the two. Means are compared exactly, as fractions; among boundaries of
/// equal means the one that comes first in `arcs` is removed first. The height of a merge is the
/// mean strength, at most 1. No mean strength of a later merge is smaller.
///
/// Parts are 1..count; arcs name each pair of neighbours once, with strengths of at least 0 and
/// lengths of at least 1. Time for n arcs: n log^2 n.
std::vector<Merge> merge_greedily(std::int32_t count, const std::vector<Arc>& arcs, float most = 1);

/// Two regions that became one, which has the name of the first. A region's name is the number of a
/// part in it.
struct Join {
  Boundary removed;
  double mean = 0;  ///< Of the boundary.
};

/// The order of joins: that in which their boundaries are removed, by the exact mean strength, then
/// by the earliest arc.
bool before(const Join& a, const Join& b);

/// Merging as far as it went, and what is left.
struct PartialMerging {
  std::vector<Join> joins;          ///< In the order of before().
  std::vector<Boundary> remaining;  ///< Between regions that may join yet, in no order.
};

/// merge_greedily() where parts for which waits[part] is not 0 have boundaries that are not among
/// these: all joins that happen whatever those are. They do, because two regions of which each has
/// its least boundary with the other join in any case: no boundary that comes into being is less
/// than both that it is made of (R. Lu, A. Zlateski and H. S. Seung, "Large-scale image
/// segmentation based on distributed clustering algorithms", 2021). `waits`: empty, or count + 1
/// elements.
PartialMerging merge_boundaries(std::int32_t count, std::vector<Boundary> boundaries,
                                std::vector<char> waits, float most = 1);

/// Boundaries of one arc each.
std::vector<Boundary> boundaries_of(const std::vector<Arc>& arcs);

/// The merge tree of `count` parts from all joins, in the order of before().
std::vector<Merge> merges_of(std::int32_t count, const std::vector<Join>& joins);

}  // namespace diacut
