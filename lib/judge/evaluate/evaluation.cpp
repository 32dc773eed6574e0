#include "evaluate/evaluation.hpp"

#include <fmt/format.h>

#include "contour/boundary_orientation.hpp"
#include "diacut/errors.hpp"

namespace diacut {

namespace {

std::vector<double> suppressed(const std::vector<double>& strength, const GroundTruth& truth) {
  const std::vector<float> map(strength.begin(), strength.end());
  const std::vector<float> thinned = suppress_non_maxima(
      map, boundary_orientation(map, truth.width, truth.height), truth.width, truth.height);
  return {thinned.begin(), thinned.end()};
}

}  // namespace

ImageEvaluation evaluate(const Raster& result, const GroundTruth& truth,
                         const EvaluationParameters& parameters) {
  check_result_size(result, parameters.kind, truth.width, truth.height);
  ImageEvaluation evaluation;
  evaluation.width = truth.width;
  evaluation.height = truth.height;
  evaluation.annotators = truth.annotations.size();
  if (parameters.kind == ResultKind::kLabels) {
    const std::vector<std::int32_t> labels = labels_of(result);
    if (parameters.boundaries) {
      evaluation.boundaries = {
          match_boundaries(boundaries_of(labels, truth.width, truth.height), truth)};
    }
    if (parameters.regions) evaluation.regions = score_labels(labels, truth);
    if (parameters.objects) {
      if (truth.annotations.size() != 1) {
        throw InputError(fmt::format(
            "objects are scored against one annotator, and the ground truth has {}: name a folder "
            "with one of them",
            truth.annotations.size()));
      }
      evaluation.objects =
          evaluate_objects(labels, truth.annotations.front().labels, truth.width, truth.height);
    }
    return evaluation;
  }
  std::vector<double> strength = strengths_of(result);
  if (parameters.kind == ResultKind::kUltrametric && parameters.regions) {
    evaluation.regions = score_hierarchy(strength, truth, parameters.thresholds);
  }
  if (!parameters.boundaries) return evaluation;
  if (parameters.kind == ResultKind::kUltrametric) {
    strength = contours_of_ultrametric(strength, truth.width, truth.height);
  } else if (parameters.suppress) {
    strength = suppressed(strength, truth);
  }
  evaluation.boundaries = match_boundaries(strength, truth, parameters.thresholds);
  return evaluation;
}

}  // namespace diacut
