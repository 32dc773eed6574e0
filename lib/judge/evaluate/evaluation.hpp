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
  std::vector<double> thresholds;  ///< Ascending. For labels, which have none, a single 0.
  bool boundaries = true;          ///< Whether boundaries are scored.
  bool regions = true;             ///< Whether regions are scored; contours have none.
  bool objects = false;            ///< Whether objects are scored; of labels alone.
  bool suppress = false;           ///< Whether contours first go through suppress_non_maxima().
};

struct ImageEvaluation {
  std::string name;
  int width = 0;
  int height = 0;
  std::size_t annotators = 0;
  std::optional<std::vector<BoundaryCounts>> boundaries;
  std::optional<RegionCurve> regions;
  std::optional<ObjectScores> objects;
};

/// Scores one result against its ground truth. Throws InputError, without the name of the file,
/// when the result has not the size or the values that its kind needs, or objects are scored and
/// there is not one annotator.
ImageEvaluation evaluate(const Raster& result, const GroundTruth& truth,
                         const EvaluationParameters& parameters);

}  // namespace diacut
