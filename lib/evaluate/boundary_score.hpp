#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "evaluate/ground_truth.hpp"

/// Boundary scores of D. Martin, C. Fowlkes and J. Malik, 2004, as the Berkeley benchmark (P.
/// Arbelaez, M. Maire, C. Fowlkes, J. Malik, 2011) computes them.
namespace diacut {

/// The farthest that pixels may be apart to be matched, as a share of the image's diagonal.
inline constexpr double kMatchShare = 0.0075;

/// `count` thresholds 1 / (count + 1), 2 / (count + 1), ...
std::vector<double> spaced_thresholds(int count);

/// Pixels counted over the annotators of one image, or over images.
struct BoundaryCounts {
  std::int64_t truth_matched = 0;  ///< Summed over annotators.
  std::int64_t truth = 0;
  std::int64_t found_matched = 0;  ///< By at least one annotator.
  std::int64_t found = 0;

  double recall() const;     ///< 0 where there is no truth.
  double precision() const;  ///< 0 where nothing was found.
  double f() const;          ///< The harmonic mean; 0 where both are.
  BoundaryCounts& operator+=(const BoundaryCounts& other);
};

/// The map at each of the thresholds: what is at least the threshold, thinned, against each
/// annotator's boundaries. `strength`: as large as the truth. Thresholds rise.
std::vector<BoundaryCounts> match_boundaries(std::span<const double> strength,
                                             const GroundTruth& truth,
                                             std::span<const double> thresholds);

/// The same for boundaries that are there or not.
BoundaryCounts match_boundaries(std::span<const std::uint8_t> boundaries, const GroundTruth& truth);

struct BoundaryPoint {
  double threshold = 0;
  double recall = 0;
  double precision = 0;
  double f = 0;
};

/// The best F on the curve, which is interpolated between thresholds at 100 points; the first of
/// equal ones. curve.size() == thresholds.size() >= 1.
BoundaryPoint best_point(std::span<const BoundaryCounts> curve, std::span<const double> thresholds);

struct BoundarySummary {
  std::vector<BoundaryCounts> curve;  ///< Counts summed over the images.
  BoundaryPoint ods;                  ///< One threshold for all images.
  BoundaryPoint ois;                  ///< Each image at the threshold best for it; none is given.
  std::optional<double> ap;           ///< Mean precision over recall; none for a single threshold.
};

/// `curves`: one an image.
BoundarySummary summarise_boundaries(std::span<const std::vector<BoundaryCounts>> curves,
                                     std::span<const double> thresholds);

}  // namespace diacut
