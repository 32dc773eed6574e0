#pragma once

#include <vector>

#include "eigen/lobpcg/small_matrix.hpp"

namespace diacut {

struct SmallEigenpairs {
  std::vector<double> values;  ///< Descending.
  SmallMatrix vectors;         ///< One orthonormal column for each value.
};

/// The `count` largest eigenvalues of a symmetric matrix and their vectors: Householder's
/// reduction to tridiagonal form, then QL iterations whose rotations are kept, and applied in
/// reverse to the unit vectors of the wanted values. All vectors come from one product of
/// rotations, so that they are orthonormal to rounding however close their values lie.
///
/// Both triangles of `a` are read; 0 <= count <= a.rows. The error of a value is a small multiple
/// of eps times the norm of `a`. Throws NumericalError where an iteration does not converge, which
/// happens only if an entry is not finite.
///
/// Golub and Van Loan, Matrix Computations, 8.3; Parlett, The Symmetric Eigenvalue Problem, 7.5 and
/// 8.15 (the recurrence of Pal, Walker and Kahan, turned to QL).
SmallEigenpairs largest_eigenpairs(SmallMatrix a, int count);

}  // namespace diacut
