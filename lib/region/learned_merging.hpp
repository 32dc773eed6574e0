#pragma once

#include <vector>

#include "diacut/hierarchy.hpp"
#include "region/merging_weights.hpp"
#include "region/region_graph.hpp"

namespace diacut {

/// Regions that are joined up to this mean strength are joined by it alone: so weak a boundary is
/// none for people, and what is left has few regions.
inline constexpr double kStartStrength = 0.03;
/// The height of such a merge is its mean strength times kStartHeight / kStartStrength, and no
/// later merge has a height below kStartHeight.
inline constexpr double kStartHeight = 0.01;

/// How much a region grows, as a share of its area, until all of its boundaries get new
/// probabilities.
inline constexpr double kMergingGrowth = 1.0 / 32;

/// Merges regions by the probability that they are different things, in place of mean strength:
/// the first merges of `by_strength`, those up to kStartStrength, are kept; then the two neighbours
/// with the least probability are joined, and the boundaries of the region that they become get new
/// probabilities, until no neighbours are left. The height of a merge is the largest probability
/// that was joined until then.
///
/// The probability is logistic in pair_features(), whose sums are exact. When a region joins a
/// larger one, the boundaries of the larger one that the other region does not touch wait for their
/// new probability until the larger one has grown by kMergingGrowth since it got all of them anew,
/// so that a large region may have many neighbours. Of equal probabilities the boundary that comes
/// first in graph.pairs is joined first. One thread does it all: a probability may become less when
/// regions join, so that regions of which each is the other's least may not be joined ahead of the
/// rest.
///
/// `graph`: of the basins and the kept merges. `basins`: their number. The result keeps the
/// contract of Hierarchy::merges.
std::vector<Merge> merge_by_probability(RegionGraph graph, std::vector<Merge> kept,
                                        std::int32_t basins, const MergingModel& model);

/// How many of the merges are up to kStartStrength.
std::size_t merges_to_keep(const std::vector<Merge>& by_strength);

}  // namespace diacut
