#pragma once

#include <cstdint>
#include <vector>

#include "diacut/hierarchy.hpp"
#include "region/arcs/arcs.hpp"
#include "region/arcs/parts.hpp"
#include "region/tree/merging_weights.hpp"

namespace diacut {

/// The colours of an image: L 255 / 100, a + 128 and b + 128 of CIE Lab, rounded, side by side; of
/// a grey image L alone. Beside them its embedding, where a network gives one.
struct Colours {
  int channels = 0;  ///< 1 or 3.
  std::vector<std::uint8_t> values;
  Embedding embedding;
};

/// The common boundary of two regions of a RegionGraph.
struct PairOfRegions {
  std::int32_t first = 0;   ///< The region with the smaller number.
  std::int32_t second = 0;  ///< The region with the larger number.
  BoundarySums boundary;

  void add(const PairOfRegions& other) { boundary.add(other.boundary); }
};

/// Regions that are made of basins, and their boundaries.
struct RegionGraph {
  std::vector<RegionSums> regions;   ///< Regions are 0, 1, ... by their first pixels in scan order.
  std::vector<std::int32_t> nodes;   ///< By region, its node in the merge tree.
  std::vector<PairOfRegions> pairs;  ///< Each pair once.
  double pixels = 0;                 ///< With data.
  /// By basin from 1 on, its region; -1 for what has no data.
  std::vector<std::int32_t> region_of_basin;
};

/// The regions after the first `merges` merges of a tree over the basins. `strength` are the
/// values of the boundary map, of which those outside [0, 1] count as 0 or 1; `arcs` those of the
/// basins. Time: the pixels.
RegionGraph region_graph(const Labels& basins, const std::vector<Arc>& arcs,
                         const std::vector<Merge>& tree, std::size_t merges,
                         const std::vector<float>& strength, const Colours& colours);

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

}  // namespace diacut
