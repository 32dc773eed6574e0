#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "matrix/dia_matrix.hpp"

namespace diacut {

/// Taken from the trivial eigenvector's eigenvalue: as the spectrum of A lies in [-1, 1], it is
/// then below all others.
inline constexpr float kTrivialMoved = 3;

/// A small normalized affinity matrix A on the elements with data alone, in double.
struct DenseProblem {
  std::vector<std::int64_t> element;  ///< The element of the grid for each row of `a`.
  Eigen::VectorXd trivial;            ///< The trivial eigenvector, of norm 1.
  Eigen::MatrixXd a;                  ///< A - kTrivialMoved trivial trivial'.
};

/// `sqrt_degree` holds matrix.shape.rows elements; those with data are positive.
DenseProblem dense_problem(const HostDiaMatrix& matrix, const std::vector<float>& sqrt_degree);

}  // namespace diacut
