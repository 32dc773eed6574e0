#pragma once

#include <cstdint>
#include <span>
#include <vector>

/// @file
/// How well a segmentation agrees with those that people drew: the scores of the Berkeley benchmark
/// (P. Arbelaez, M. Maire, C. Fowlkes and J. Malik, "Contour detection and hierarchical image
/// segmentation", 2011), as the program diacut-evaluate computes them for label images. And how
/// well objects that were found agree with those that a person drew: objects are matched one to one
/// by their intersection over union (U. Schmidt, M. Weigert, C. Broaddus and G. Myers, "Cell
/// detection with star-convex polygons", 2018; C. Stringer, T. Wang, M. Michaelos and
/// M. Pachitariu, "Cellpose: a generalist algorithm for cellular segmentation", 2021).
namespace diacut {

/// The scores of one segmentation.
struct LabelScores {
  double precision = 0;  ///< The share of its boundary pixels that match a person's, in [0, 1].
  double recall = 0;     ///< The share of the people's boundary pixels that it matches, in [0, 1].
  double f = 0;          ///< The harmonic mean of precision and recall; 0 if both are 0.
  double covering = 0;   ///< How well its regions cover those of the people, in [0, 1].
  double pri = 0;        ///< The probabilistic Rand index, in [0, 1].
  double vi = 0;         ///< The variation of information, bits; 0 is best.
};

/// Scores a segmentation against those of one or more people. `labels`: the segmentation: width *
/// height values, row by row; pixels of one region have one value, any value. `truths`: the
/// segmentations of people, each as `labels`. `width`, `height`: of the image, pixels. Throws
/// InputError when there is no segmentation of a person, or one has another size.
LabelScores evaluate_labels(std::span<const std::int32_t> labels,
                            const std::vector<std::span<const std::int32_t>>& truths, int width,
                            int height);

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

}  // namespace diacut
