#pragma once

#include <cstdint>
#include <vector>

#include "diacut/eigenvectors.hpp"
#include "diacut/labels.hpp"
#include "diacut/parameters.hpp"
#include "diacut/progress.hpp"

namespace diacut {

/// The affinity W as the region stage reads it. In a run the device computes it, in a test plain
/// loops do.
class AffinityGraph {
 public:
  virtual ~AffinityGraph() = default;

  /// Block product within regions: for every pixel i and column c < columns,
  ///   out[i * columns + c] = sum over j in the same region as i of W_ij x[j * columns + c],
  /// where i and j are in the same region if region[i] == region[j] != 0. Vectors hold a row of
  /// `columns` values for each of width * height pixels. columns is a power of two, at most
  /// max_columns().
  virtual void product_within(const std::vector<std::int32_t>& region, const std::vector<float>& x,
                              int columns, std::vector<float>& out) = 0;
  virtual int max_columns() const = 0;

  /// W between each pixel and its right (x + 1) and lower (y + 1) neighbour, 0 at the border.
  virtual const std::vector<float>& right() = 0;
  virtual const std::vector<float>& down() = 0;
};

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
DirectCuts segment_regions(const Eigenvectors& eigenvectors, AffinityGraph& graph,
                           const RegionParameters& parameters, std::vector<std::string>& notes,
                           const Watch& watch = {});

}  // namespace diacut
