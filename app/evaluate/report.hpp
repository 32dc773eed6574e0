#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "evaluate/evaluation.hpp"

namespace diacut::app {

/// The scores of a run: of each image, and of all images together.
struct Evaluation {
  EvaluationParameters parameters;
  std::vector<ImageEvaluation> images;
  std::optional<BoundarySummary> boundaries;
  std::optional<RegionSummary> regions;
  std::optional<ObjectSummary> objects;
};

/// Sets evaluation.boundaries, .regions and .objects from the images.
void summarise(Evaluation& evaluation);

/// The tables for people. `detected`: whether the kind of the results was detected.
std::string describe(const Evaluation& evaluation, bool detected);

/// The scores of one image as a line for people.
std::string describe_image(const ImageEvaluation& image, const EvaluationParameters& parameters);

/// All scores as JSON. "schema" is the version of this layout, which a change of meaning raises.
std::string to_json(const Evaluation& evaluation);

/// Precision against recall as a PNG: the curve of all thresholds, a dot at the best F, and lines
/// of equal F behind them.
std::vector<std::uint8_t> draw_curve(const BoundarySummary& summary);

/// The scores of each image as CSV: a line of names, then one line an image.
std::string to_csv(const Evaluation& evaluation);

}  // namespace diacut::app
