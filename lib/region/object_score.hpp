#pragma once

#include <array>
#include <string>
#include <vector>

#include "region/object_features.hpp"

namespace diacut {

/// How likely a node is an object: logistic regression on the features and their products of two,
/// each feature as (value - mean) / deviation, limited to -kMostDeviations to kMostDeviations.
struct ObjectModel {
  static constexpr double kMostDeviations = 4;
  static constexpr std::size_t kProducts = kObjectFeatures * (kObjectFeatures + 1) / 2;

  double least = 0.5;  ///< Nodes of at most this probability are no objects.
  double bias = 0;
  ObjectFeatures mean = {};
  ObjectFeatures deviation = {};
  std::array<double, kObjectFeatures> weights = {};
  std::array<double, kProducts> products = {};  ///< Of features i <= j, by i, then by j.

  double probability(const ObjectFeatures& features) const;
};

/// The model that is built in, of nuclei on micrographs (docs/objects.md).
const ObjectModel& nuclei_model();

/// The model in the text of a file that messages call `name`. Throws ConfigError.
ObjectModel parse_object_model(const std::string& text, const std::string& name);

}  // namespace diacut
