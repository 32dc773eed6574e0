#pragma once

#include <optional>
#include <string>
#include <vector>

#include "evaluate/boundary_score.hpp"
#include "evaluate/ground_truth.hpp"
#include "evaluate/region_score.hpp"
#include "evaluate/result.hpp"

namespace diacut {

struct EvaluationParameters {
  ResultKind kind = ResultKind::kContours;
  std::vector<double> thresholds;  ///< Rising; a single 0 for labels, which have none.
  bool boundaries = true;
  bool regions = true;    ///< Contours have none.
  bool suppress = false;  ///< Contours lose what is no maximum across a boundary first.
};

struct ImageEvaluation {
  std::string name;
  int width = 0;
  int height = 0;
  std::size_t annotators = 0;
  bool is_thick = false;  ///< Contours that were taken as they are, and are not thin.
  std::optional<std::vector<BoundaryCounts>> boundaries;
  std::optional<RegionCurve> regions;
};

/// One result against its ground truth. Throws InputError, without the file's name, when the result
/// does not fit to the truth or its kind.
ImageEvaluation evaluate(const Raster& result, const GroundTruth& truth,
                         const EvaluationParameters& parameters);

}  // namespace diacut
