#pragma once

#include <algorithm>

#include "diacut/eigenvectors.hpp"

namespace diacut {

/// The residual norm at which an eigenpair has converged.
struct ResidualGoal {
  double tolerance = 0;  ///< EigenParameters::tolerance.
  double relative = 0;   ///< EigenParameters::relative_tolerance.

  /// The norm that is allowed for an eigenvalue of the normalized Laplacian.
  double allowed(double eigenvalue) const {
    if (!(relative > 0)) return tolerance;
    return std::min(tolerance, std::max(relative * eigenvalue, kResidualFloor));
  }
};

}  // namespace diacut
