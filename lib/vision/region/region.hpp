#pragma once

#include <string>
#include <vector>

#include "diacut/eigenvectors.hpp"
#include "diacut/labels.hpp"
#include "diacut/parameters.hpp"
#include "diacut/progress.hpp"
#include "region/affinity_graph.hpp"

namespace diacut {

/// Direct cuts of an image.
struct DirectCuts {
  Labels labels;
  /// Sum over the regions of the weight that leaves a region divided by the sum of the region's
  /// degrees (Yu and Shi 2003).
  double normalized_cut = 0;
};

/// Regions from eigenvectors: recursive two-way cuts (Shi and Malik 2000) while the normalized cut
/// is at most max_ncut, then parts below min_size join the neighbour with the strongest affinity.
/// Where parameters.regions is K > 0, parts are then joined or cut until there are exactly K (fewer
/// only when fewer pixels have data). `notes` receives what a person should know. Throws
/// ConfigError when K is more than the pixels with data, CancelledError.
DirectCuts segment_regions(const Eigenvectors& eigenvectors, const AffinityGraph& graph,
                           const RegionParameters& parameters, std::vector<std::string>& notes,
                           const Watch& watch = {});

}  // namespace diacut
