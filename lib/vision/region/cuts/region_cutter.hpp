#pragma once

#include <cstdint>
#include <vector>

#include "diacut/eigenvectors.hpp"
#include "region/affinity_graph.hpp"

namespace diacut {

/// Which cuts of a region are considered.
struct CutLimits {
  /// Pixels that each side of a cut must have.
  std::int64_t min_side = 1;
  /// Largest normalized cut, cut/assoc(A, R) + cut/assoc(B, R), in [0, 2].
  double max_ncut = 2;
  /// Largest flatness: the mean affinity of the direct neighbours that a cut parts, divided by the
  /// mean affinity of all direct neighbours in the region. A cut through a flat region has about 1,
  /// a cut along a boundary about 0. The normalized cut alone prefers halving a large flat region
  /// to following a short boundary (Shi and Malik, section 3.1, call such cuts unstable).
  double max_flatness = 1e30;
  /// The most cuts of one region at once. They cut off pieces that do not overlap.
  int max_cuts = 1;
};

/// The cuts found for each of a number of regions.
struct RegionCuts {
  /// By region, 1..count (index 0 is unused): the normalized cut of the cheapest cut within the
  /// limits, kNone if there is no such cut.
  std::vector<double> ncut;
  /// By pixel: c in 1..max_cuts in the piece that the c-th cut of the region takes off, 0
  /// elsewhere.
  std::vector<std::uint8_t> piece;

  static constexpr double kNone = 3.0;
};

/// Normalized cuts of regions (Shi and Malik 2000), for all regions of a map at once.
///
/// A region R has an eigenproblem of its own, (D_R - W_R) y = lambda D_R y, with W_R the weights
/// within R and D_R their row sums. It is solved approximately, by Rayleigh and Ritz, in the span
/// of the whole image's eigenvectors restricted to R: they carry the sub-partitions too (Shi and
/// Malik, section 3), so no eigensolver need run for each part. Thresholds of the Ritz vectors are
/// ranked by the affinities of direct neighbours, and the best of them compared by their normalized
/// cuts. The product with D - W is made once, for the whole image; a region's differs from it at
/// its border alone.
///
/// A pixel's affinity with itself, 1, does not count in its degree: else the rows of pixels on a
/// strong boundary, which have no affinity with others, would be regions with a small normalized
/// cut.
class RegionCutter {
 public:
  /// Both arguments must outlive the cutter.
  RegionCutter(const Eigenvectors& eigenvectors, const AffinityGraph& graph);

  /// `region`: 1..count, 0 for pixels that take no part. A region's cuts depend on its own pixels
  /// alone.
  RegionCuts best_cuts(const std::vector<std::int32_t>& region, std::int64_t count,
                       const CutLimits& limits);

  /// The most vectors that cuts are made from. Those beyond say little about large regions.
  static constexpr std::size_t kColumns = 15;
  /// Elements of a row of vectors, whole lanes.
  static constexpr std::size_t kStride = 16;

 private:
  void restrict_to(const std::vector<std::int32_t>& region);

  const AffinityGraph& graph_;
  std::size_t columns_;
  // By pixel: a row of the image's eigenvectors after the trivial one, y = z / sqrt_degree, and of
  // (D - W) y; and the sum of the pixel's affinities.
  std::vector<float> basis_;
  std::vector<float> laplacian_;
  std::vector<double> degree_;
  // By pixel, with affinities inside of the regions that are being cut alone: the row of
  // (D - W) y and the sum of affinities; and which candidate cuts the pixel lies above.
  std::vector<float> region_laplacian_;
  std::vector<double> region_degree_;
  std::vector<std::uint16_t> above_;
};

}  // namespace diacut
