#pragma once

#include <string>
#include <vector>

#include "region/pair_features.hpp"

namespace diacut {

/// One feature of a model: weight * (the feature - mean) / deviation, the quotient limited to
/// -kMostDeviations to kMostDeviations.
struct MergingTerm {
  PairFeature feature = PairFeature::kMean;
  double weight = 0;
  double mean = 0;
  double deviation = 1;
};

/// The logarithm of the odds that two regions are different things: the bias and the terms' sum.
struct MergingModel {
  static constexpr double kMostDeviations = 4;

  double bias = 0;
  std::vector<MergingTerm> terms;

  double logit(const PairFeatures& features) const;
};

/// What a file of weights holds (docs/merging.md).
struct MergingWeights {
  MergingModel colour;   ///< For images in colour.
  MergingModel grey;     ///< For grey images: no term has to do with a or b.
  double threshold = 0;  ///< The probability at which the automatic cut is made.
};

/// The weights that are built in by that name (empty: for contours with eigenvectors; "boundary":
/// for contours of a network's boundary map alone), or those in the file of that path. Throws
/// ConfigError when there is no such file, or it is damaged.
MergingWeights load_merging_weights(const std::string& name);

/// The weights in the text of a file that messages call `name`. Throws ConfigError.
MergingWeights parse_merging_weights(const std::string& text, const std::string& name);

}  // namespace diacut
