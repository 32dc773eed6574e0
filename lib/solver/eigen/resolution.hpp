#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

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

/// What residuals show of eigenvalues of the normalized Laplacian, of which the first `known` are
/// known and not computed. `values` ascend, `residuals` are the norms in the same order.
std::vector<EigenResolution> resolution_of(std::span<const double> values,
                                           std::span<const double> residuals,
                                           std::size_t known = 1);

/// What a person should know of eigenvalues that the residuals do not resolve; nothing where they
/// resolve all.
std::optional<std::string> resolution_note(const EigenReport& report);

}  // namespace diacut
