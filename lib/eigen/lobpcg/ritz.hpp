#pragma once

#include <Eigen/Dense>
#include <vector>

namespace diacut {

/// One Rayleigh-Ritz step on the host, from Gram matrices alone. Column 0 of S is the trivial
/// eigenvector of A, to the eigenvalue 1: it stays as it is, and everything else is taken
/// orthogonal to it.
struct RitzStep {
  /// Ritz values, descending, the trivial one (1) first; 0 where S spans too little.
  std::vector<double> values;
  /// S times this are the Ritz vectors: row-major, S's columns by `columns`.
  std::vector<float> rotation;
  int found = 0;  ///< Ritz vectors beside the trivial one; columns after them are zero.
};

/// The largest `columns` - 1 Ritz pairs of A in the span of S (and the trivial one).
/// `gram` = S'S and `product` = S'AS; columns of S may be zero or depend on others, up to the
/// rounding errors of float vectors; those that `skipped` (one flag a column, or none) names are
/// left out. Throws NumericalError if either matrix is not finite.
RitzStep solve_ritz(const Eigen::MatrixXd& gram, const Eigen::MatrixXd& product, int columns,
                    const std::vector<bool>& skipped = {});

}  // namespace diacut
