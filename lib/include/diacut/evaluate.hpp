#pragma once

#include <cstdint>
#include <span>
#include <vector>

/// @file
/// How well a segmentation agrees with those that people drew: the scores of the Berkeley benchmark
/// (P. Arbelaez, M. Maire, C. Fowlkes and J. Malik, "Contour detection and hierarchical image
/// segmentation", 2011), as the program diacut-evaluate computes them for label images.
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
/// height values, row by row; pixels of one region have one value, any value. `truths`: those of
/// people, each as `labels`. Throws InputError when there is none of a person, or one has another
/// size.
LabelScores evaluate_labels(std::span<const std::int32_t> labels,
                            const std::vector<std::span<const std::int32_t>>& truths, int width,
                            int height);

}  // namespace diacut
