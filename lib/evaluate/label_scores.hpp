#pragma once

#include <span>

#include "diacut/evaluate.hpp"

namespace diacut {

/// Scores of objects over several images.
struct ObjectSummary {
  ObjectScores pooled;                 ///< The objects of all images counted together.
  std::vector<double> mean_precision;  ///< The mean over the images of average_precision(), for
                                       ///< each of pooled.matches.
  double mean_f1 = 0;                  ///< The mean over the images of f1() at the first overlap.
};

/// The mean of average_precision() over all overlaps.
double mean_average_precision(const ObjectScores& scores);

/// Precondition: at least one image.
ObjectSummary summarise_objects(std::span<const ObjectScores> images);

}  // namespace diacut
