#pragma once

#include <Eigen/Core>

namespace diacut {

struct SymmetricEigenpairs {
  Eigen::VectorXd values;   ///< Ascending.
  Eigen::MatrixXd vectors;  ///< Of norm 1, a column for each value.
  bool converged = false;
};

/// All eigenpairs of a dense symmetric matrix, of which the lower triangle is read. Only this
/// function compiles Eigen's solver in double, which takes seconds.
SymmetricEigenpairs symmetric_eigenpairs(const Eigen::MatrixXd& matrix);

}  // namespace diacut
