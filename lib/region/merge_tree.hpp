#pragma once

#include <cstdint>
#include <vector>

#include "diacut/hierarchy.hpp"
#include "region/arcs.hpp"
#include "region/boundary_queue.hpp"

namespace diacut {

/// Joins the two neighbours with the least mean strength of their common boundary, again and again
/// until no neighbours are left (Arbelaez et al. 2011, section 3.2). Where two boundaries become
/// one, their strengths and lengths are added, and it counts as the earlier of the two. Means are
/// compared exactly, as fractions; among boundaries of equal means the one that comes first in
/// `arcs` is removed first. The height of a merge is the mean strength, at most 1. No mean strength
/// of a later merge is smaller.
///
/// Parts are 1..count; arcs name each pair of neighbours once, in the order of (first, second),
/// with strengths of at least 0 and lengths of at least 1. Time for n arcs: n log^2 n.
///
/// Blocks of parts with consecutive numbers are merged in parallel, with the same result as one by
/// one: two regions of which each has its least boundary with the other join in any case, whatever
/// happens elsewhere, since no boundary that comes into being is less than both that it is made of
/// (R. Lu, A. Zlateski and H. S. Seung, "Large-scale image segmentation based on distributed
/// clustering algorithms", 2021). A block puts off what depends on its neighbours; then pairs of
/// blocks are blocks.
std::vector<Merge> merge_greedily(std::int32_t count, const std::vector<Arc>& arcs);

/// Two regions that became one, which has the name of the first. A region's name is the number of a
/// part in it.
struct Join {
  Boundary removed;
  double mean = 0;  ///< Of the boundary.
};

/// The order of joins: that in which their boundaries are removed.
inline bool before(const Join& a, const Join& b) {
  return removed_before(a.removed, a.mean, b.removed, b.mean);
}

/// Merging as far as it went, and what is left.
struct PartialMerging {
  std::vector<Join> joins;          ///< In the order of before().
  std::vector<Boundary> remaining;  ///< Between regions that may join yet, in no order.
};

/// merge_greedily() where parts for which waits[part] is not 0 have boundaries that are not among
/// these: all joins that happen whatever those are. `waits`: empty, or count + 1 elements.
/// Boundaries are in the order of their first parts.
PartialMerging merge_boundaries(std::int32_t count, const std::vector<Boundary>& boundaries,
                                const std::vector<char>& waits);

/// Boundaries of one arc each.
std::vector<Boundary> boundaries_of(const std::vector<Arc>& arcs);

/// The merge tree of `count` parts from all joins, in the order of before().
std::vector<Merge> merges_of(std::int32_t count, const std::vector<Join>& joins);

}  // namespace diacut
