#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "evaluate/ground_truth.hpp"

/// Region scores as the Berkeley benchmark (P. Arbelaez, M. Maire, C. Fowlkes, J. Malik, "Contour
/// detection and hierarchical image segmentation", 2011, section 2.3) computes them.
namespace diacut {

/// One segmentation against all annotators of its image.
struct RegionScores {
  /// Each region of the truth times its best overlap (intersection over union) with ours, in
  /// pixels, summed over regions and annotators.
  double covered = 0;
  double pri = 0;  ///< The probabilistic Rand index: the Rand index, mean over annotators.
  double vi = 0;   ///< The variation of information in bits, mean over annotators.
};

struct RegionCurve {
  std::int64_t area = 0;             ///< Of the image's truth: pixels times annotators.
  std::vector<RegionScores> scores;  ///< By threshold.
  double best_covered = 0;           ///< With each region's best overlap at any threshold.
};

/// `labels`: one region a value, as large as the truth. One threshold's curve.
RegionCurve score_labels(std::span<const std::int32_t> labels, const GroundTruth& truth);

/// An ultrametric map on the doubled grid: (2 height + 1) rows of (2 width + 1) strengths. Pixel
/// (x, y) is at column 2x + 1 of row 2y + 1, the boundary between two pixels between them. At a
/// threshold t the regions are the pixels that are 8-connected through strengths of at most t;
/// pixels themselves are never boundary. Thresholds rise.
RegionCurve score_hierarchy(std::span<const double> strength, const GroundTruth& truth,
                            std::span<const double> thresholds);

/// A score at one threshold for all images, and each image at the threshold best for it.
struct RegionMeasure {
  double threshold = 0;  ///< Of ods; the lowest of equal ones.
  double ods = 0;
  double ois = 0;
};

struct RegionSummary {
  RegionMeasure covering;
  double best_covering = 0;
  RegionMeasure pri;
  RegionMeasure vi;
  std::vector<double> covering_curve;  ///< By threshold, over all images; as are these:
  std::vector<double> pri_curve;
  std::vector<double> vi_curve;
};

/// `curves`: one an image. Coverings are pooled by area, PRI and VI are means over images.
RegionSummary summarise_regions(std::span<const RegionCurve> curves,
                                std::span<const double> thresholds);

}  // namespace diacut
