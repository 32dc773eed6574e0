#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "evaluate/ground_truth.hpp"

/// Region scores as the Berkeley benchmark (P. Arbelaez, M. Maire, C. Fowlkes, J. Malik, "Contour
/// detection and hierarchical image segmentation", 2011, section 2.3) computes them. And how well
/// objects that were found agree with those that a person drew: objects are matched one to one by
/// their intersection over union (U. Schmidt, M. Weigert, C. Broaddus and G. Myers, "Cell detection
/// with star-convex polygons", 2018; C. Stringer, T. Wang, M. Michaelos and M. Pachitariu,
/// "Cellpose: a generalist algorithm for cellular segmentation", 2021).
namespace diacut {

/// How many objects match at one least intersection over union. A found object and a true one match
/// if the pixels of both, divided by the pixels of either, are at least that; each matches at most
/// one other, and there are as many matches as can be.
struct ObjectMatches {
  double overlap = 0.5;      ///< The least intersection over union, at least 0.5.
  std::int64_t matched = 0;  ///< Objects that match: true positives.
  std::int64_t found = 0;    ///< Objects that were found.
  std::int64_t truth = 0;    ///< True objects.

  /// The share of the objects found that match. Returns in [0, 1]; 1 where none was found.
  double precision() const;
  /// The share of the true objects that match. Returns in [0, 1]; 1 where there is none.
  double recall() const;
  /// The harmonic mean of precision and recall. Returns in [0, 1]; 1 where there is no object,
  /// neither found nor true.
  double f1() const;
  /// The matches divided by the matches, the other objects found and the other true objects, which
  /// the papers call average precision. Returns in [0, 1]; 1 where there is no object, neither
  /// found nor true.
  double average_precision() const;
};

/// The scores of the objects of one image, or of several images together.
struct ObjectScores {
  /// For intersections over union of .5, .55, ... .95.
  std::vector<ObjectMatches> matches;
  /// True objects whose intersection over union with two or more found ones is above .1.
  std::int64_t splits = 0;
  /// Found objects whose intersection over union with two or more true ones is above .1.
  std::int64_t merges = 0;
};

/// Scores objects against those of one person. `labels`: the objects found: width * height values,
/// row by row; the pixels of an object have one number, any but 0, which is the background.
/// `truth`: the true objects, as `labels`. `width`, `height`: of the image, pixels. Throws
/// InputError when a label image has another size.
ObjectScores evaluate_objects(std::span<const std::int32_t> labels,
                              std::span<const std::int32_t> truth, int width, int height);

/// Scores of objects over several images.
struct ObjectSummary {
  ObjectScores pooled;                 ///< The objects of all images counted together.
  std::vector<double> mean_precision;  ///< The mean over the images of average_precision(), for
                                       ///< each of pooled.matches.
  double mean_f1 = 0;                  ///< The mean over the images of f1() at the first overlap.
};

/// The mean of average_precision() over all overlaps.
double mean_average_precision(const ObjectScores& scores);

/// Precondition: at least one image.
ObjectSummary summarise_objects(std::span<const ObjectScores> images);

/// The scores of one segmentation against all annotators of its image.
struct RegionScores {
  /// The covering in pixels: the sum over the regions of the truth of all annotators, of the pixels
  /// of the region times its largest overlap (intersection over union) with a region of the
  /// segmentation.
  double covered = 0;
  double pri = 0;  ///< The probabilistic Rand index: the mean Rand index over annotators.
  double vi = 0;   ///< The variation of information in bits: the mean over annotators.
};

struct RegionCurve {
  std::int64_t area = 0;             ///< Pixels of the image times annotators.
  std::vector<RegionScores> scores;  ///< For each threshold.
  double best_covered =
      0;  ///< The covering, with the best overlap of each region at any threshold.
};

/// The scores of a label image of the size of the truth, in which pixels of one region have one
/// value: a curve of one threshold.
RegionCurve score_labels(std::span<const std::int32_t> labels, const GroundTruth& truth);

/// The scores of an ultrametric map on the doubled grid: 2 height + 1 rows of 2 width + 1
/// strengths. Pixel (x, y) is at column 2x + 1 of row 2y + 1, and the boundary between two pixels
/// lies between them. The regions at a threshold t are the sets of pixels that are 8-connected
/// through elements with strengths of at most t; elements that are pixels never separate.
/// Precondition: ascending thresholds.
RegionCurve score_hierarchy(std::span<const double> strength, const GroundTruth& truth,
                            std::span<const double> thresholds);

/// A score at the best single threshold for all images (ODS), and with each image at its own best
/// threshold (OIS).
struct RegionMeasure {
  double threshold = 0;  ///< The threshold of ods; of equally good ones the lowest.
  double ods = 0;
  double ois = 0;
  std::vector<double> curve;  ///< Over all images, for each threshold.
};

struct RegionSummary {
  RegionMeasure covering;
  double best_covering = 0;
  RegionMeasure pri;
  RegionMeasure vi;
};

/// The scores of several images, from the curve of each. Coverings are pooled by area; PRI and VI
/// are means over the images.
RegionSummary summarise_regions(std::span<const RegionCurve> curves,
                                std::span<const double> thresholds);

}  // namespace diacut
