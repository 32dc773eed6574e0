#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "evaluate/ground_truth.hpp"

/// Boundary scores of D. Martin, C. Fowlkes and J. Malik, 2004, as the Berkeley benchmark (P.
/// Arbelaez, M. Maire, C. Fowlkes, J. Malik, 2011) computes them.
namespace diacut {

/// The greatest distance at which pixels can be matched, as a share of the diagonal of the image.
inline constexpr double kMatchShare = 0.0075;

/// `count` thresholds, evenly spaced: 1 / (count + 1), 2 / (count + 1), ...
std::vector<double> spaced_thresholds(int count);

/// Counts of boundary pixels over the annotators of one image, or over several images.
struct BoundaryCounts {
  std::int64_t truth_matched = 0;  ///< Matched pixels of the truth, summed over annotators.
  std::int64_t truth = 0;          ///< Pixels of the truth, summed over annotators.
  std::int64_t found_matched = 0;  ///< Found pixels that match the truth of an annotator.
  std::int64_t found = 0;          ///< Found pixels.

  double recall() const;     ///< truth_matched / truth; 0 if there is no truth.
  double precision() const;  ///< found_matched / found; 0 if nothing was found.
  double f() const;          ///< The harmonic mean of both; 0 if both are 0.
  BoundaryCounts& operator+=(const BoundaryCounts& other);
};

/// The counts of a boundary map at each threshold: pixels of at least the threshold are thinned and
/// matched to the boundaries of each annotator. `strength` is the map, of the size of the truth.
/// Precondition: ascending thresholds.
std::vector<BoundaryCounts> match_boundaries(std::span<const double> strength,
                                             const GroundTruth& truth,
                                             std::span<const double> thresholds);

/// The counts of a mask of boundary pixels, which is thinned and matched as at one threshold.
BoundaryCounts match_boundaries(std::span<const std::uint8_t> boundaries, const GroundTruth& truth);

struct BoundaryPoint {
  double threshold = 0;
  double recall = 0;
  double precision = 0;
  double f = 0;
};

/// The point of the curve with the largest F; of equal ones the first. The curve is interpolated at
/// 100 points between neighbouring thresholds. Precondition: curve.size() == thresholds.size()
/// >= 1.
BoundaryPoint best_point(std::span<const BoundaryCounts> curve, std::span<const double> thresholds);

struct BoundarySummary {
  std::vector<BoundaryCounts> curve;  ///< Counts summed over the images.
  BoundaryPoint ods;                  ///< The best single threshold for all images.
  BoundaryPoint ois;                  ///< Each image at its own best threshold; `threshold` is 0.
  std::optional<double> ap;           ///< Average precision; none for a single threshold.
};

/// The scores of several images. `curves` holds the counts of each image at each threshold.
BoundarySummary summarise_boundaries(std::span<const std::vector<BoundaryCounts>> curves,
                                     std::span<const double> thresholds);

}  // namespace diacut
