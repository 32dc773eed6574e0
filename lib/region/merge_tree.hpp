#pragma once

#include <cstdint>
#include <vector>

#include "diacut/hierarchy.hpp"
#include "region/arcs.hpp"

namespace diacut {

/// Joins the two neighbours with the least mean strength of their common boundary, again and again
/// until no neighbours are left (Arbelaez et al. 2011, section 3.2). Boundaries that become one add
/// up strength and length. Of equal means the arc that comes first in `arcs` goes first. The height
/// is the mean, at most 1; a mean of boundaries that are all left is no less than what went before,
/// and rounding is not allowed to make it so.
///
/// Parts are 1..count; arcs name each pair of neighbours once, with finite strengths of at least 0
/// and lengths of at least 1. Time for n arcs: n log^2 n.
std::vector<Merge> merge_greedily(std::int32_t count, const std::vector<Arc>& arcs);

}  // namespace diacut
