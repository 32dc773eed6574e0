#pragma once

#include <optional>
#include <string>
#include <vector>

#include "evaluate/evaluation.hpp"

namespace diacut::app {

/// All images of a run and what they come to.
struct Evaluation {
  EvaluationParameters parameters;
  std::vector<ImageEvaluation> images;
  std::optional<BoundarySummary> boundaries;
  std::optional<RegionSummary> regions;
};

/// Fills in the summaries.
void summarise(Evaluation& evaluation);

/// The tables for people. `detected`: nobody said what the results are.
std::string describe(const Evaluation& evaluation, bool detected);

/// One image in a line.
std::string describe_image(const ImageEvaluation& image, const EvaluationParameters& parameters);

/// "schema" is the version of this layout, which a change of meaning raises.
std::string to_json(const Evaluation& evaluation);

/// A line of names, then a line an image.
std::string to_csv(const Evaluation& evaluation);

}  // namespace diacut::app
