#pragma once

#include <cstdint>
#include <vector>

#include "diacut/hierarchy.hpp"
#include "region/arcs.hpp"
#include "region/merging_weights.hpp"
#include "region/parts.hpp"

namespace diacut {

/// The colours of an image: L 255 / 100, a + 128 and b + 128 of CIE Lab, rounded, side by side; of
/// a grey image L alone.
struct Colours {
  int channels = 0;  ///< 1 or 3.
  std::vector<std::uint8_t> values;
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
RegionGraph region_graph(const Parts& basins, const std::vector<Arc>& arcs,
                         const std::vector<Merge>& tree, std::size_t merges,
                         const std::vector<float>& strength, const Colours& colours);

}  // namespace diacut
