#include "diacut/errors.hpp"
#include "diacut/evaluate.hpp"
#include "evaluate/boundary_score.hpp"
#include "evaluate/ground_truth.hpp"
#include "evaluate/label_size.hpp"
#include "evaluate/region_score.hpp"

namespace diacut {

LabelScores evaluate_labels(std::span<const std::int32_t> labels,
                            const std::vector<std::span<const std::int32_t>>& truths, int width,
                            int height) {
  check_label_size(labels, width, height);
  if (truths.empty()) {
    throw InputError("there is no ground truth to score labels against: give one or more");
  }
  GroundTruth truth{width, height, {}};
  for (const std::span<const std::int32_t> one : truths) {
    check_label_size(one, width, height);
    truth.annotations.push_back(
        {{one.begin(), one.end()}, thin(boundaries_of(one, width, height), width, height)});
  }
  const BoundaryCounts counts = match_boundaries(boundaries_of(labels, width, height), truth);
  const RegionCurve curve = score_labels(labels, truth);
  const RegionScores& regions = curve.scores.front();
  return {counts.precision(), counts.recall(),
          counts.f(),         regions.covered / static_cast<double>(curve.area),
          regions.pri,        regions.vi};
}

}  // namespace diacut
