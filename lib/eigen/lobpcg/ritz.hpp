#pragma once

#include <Eigen/Dense>
#include <vector>

namespace diacut {

/// The result of a Rayleigh-Ritz step over a basis S = [X W P], whose column 0 is the trivial
/// eigenvector of A, to the eigenvalue 1: that one stays as it is, and all Ritz vectors are
/// orthogonal to it.
struct RitzStep {
  /// Ritz values of A, descending, the trivial one (1) first; 0 where S spans too little.
  std::vector<double> values;
  /// Q, row-major, one row for each column of S and `columns` columns: S Q are the Ritz vectors.
  std::vector<float> rotation;
  int found = 0;  ///< Ritz vectors beside the trivial one; the columns of Q after them are zero.
};

/// The largest `columns` - 1 Ritz pairs of A in the span of S, orthogonal to the trivial vector:
/// S'AS q = theta S'S q, solved on the host. `gram` = S'S and `product` = S'AS; the first `columns`
/// columns of S are X. Columns may be zero or depend on others, up to the rounding errors of float
/// vectors. Columns that `skipped` names are left out; it has one flag for each column, or none.
/// Throws NumericalError if a matrix is not finite.
RitzStep solve_ritz(const Eigen::MatrixXd& gram, const Eigen::MatrixXd& product, int columns,
                    const std::vector<bool>& skipped = {});

}  // namespace diacut
