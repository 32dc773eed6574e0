#pragma once

#include <cstdint>
#include <vector>

#include "diacut/segmenter.hpp"
#include "region/region.hpp"

namespace diacut {

/// The best two-way cut found of each of a number of regions.
struct TwoWayCuts {
  /// By region, 1..count (index 0 is unused): cut/assoc(A, R) + cut/assoc(B, R), in [0, 2];
  /// kNoCut when no cut leaves enough pixels on both sides.
  std::vector<double> ncut;
  /// By pixel: 1 on one side of its region's cut, 0 on the other and outside the regions.
  std::vector<std::uint8_t> side;

  static constexpr double kNoCut = 3.0;
};

/// Normalized cuts of regions into two (Shi and Malik 2000), for all regions of a map at once.
///
/// A region R has an eigenproblem of its own, (D_R - W_R) y = lambda D_R y, with W_R the weights
/// within R and D_R their row sums. It is solved approximately, by Rayleigh and Ritz, in the span
/// of the whole image's eigenvectors restricted to R: they carry the sub-partitions too (Shi and
/// Malik, section 3), and an eigensolver's run for each part is spared. The best thresholds of the
/// Ritz vectors are then searched with W itself. All of this is a handful of block products for
/// any number of regions.
class TwoWayCutter {
 public:
  /// Keeps references to both, which must outlive it.
  TwoWayCutter(const Eigenvectors& eigenvectors, AffinityGraph& graph);

  /// `region`: 1..count, 0 for pixels that take no part. Cuts leave at least `min_side` pixels on
  /// both sides.
  TwoWayCuts best_cuts(const std::vector<std::int32_t>& region, std::int32_t count,
                       std::int64_t min_side);

 private:
  AffinityGraph& graph_;
  std::size_t image_width_;
  std::size_t pixels_;
  int columns_;
  std::vector<float> basis_;  ///< y = z / sqrt_degree, columns_ values a pixel.
};

}  // namespace diacut
