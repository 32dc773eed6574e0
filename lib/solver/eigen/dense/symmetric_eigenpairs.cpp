#include "eigen/dense/symmetric_eigenpairs.hpp"

#include <Eigen/Eigenvalues>

namespace diacut {

SymmetricEigenpairs symmetric_eigenpairs(const Eigen::MatrixXd& matrix) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(matrix);
  return {solver.eigenvalues(), solver.eigenvectors(), solver.info() == Eigen::Success};
}

}  // namespace diacut
