#pragma once

#include <cstdint>
#include <vector>

#include "diacut/hierarchy.hpp"
#include "region/arcs.hpp"

namespace diacut {

/// Joins the two neighbours with the least mean strength of their common boundary, again and again
/// until no neighbours are left (Arbelaez et al. 2011, section 3.2). Where two
/// boundaries become one, their strengths and lengths are added. Among arcs of equal mean strength
/// the first one in `arcs` is joined first. The height of a merge is the mean strength, at most 1.
/// No mean strength of a later merge is smaller; where rounding makes it so, the height is raised.
///
/// Parts are 1..count; arcs name each pair of neighbours once, with finite strengths of at least 0
/// and lengths of at least 1. Time for n arcs: n log^2 n.
std::vector<Merge> merge_greedily(std::int32_t count, const std::vector<Arc>& arcs);

}  // namespace diacut
