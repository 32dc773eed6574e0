#pragma once

#include <optional>
#include <span>
#include <vector>

#include "matrix/dia_matrix.hpp"

namespace diacut {

/// What a multilevel solver wants of a grid small enough for dense matrices: the inverse of I - A
/// on what is orthogonal to the trivial eigenvector of A, and the eigenvectors of A to its largest
/// eigenvalues. Both are about right, as a preconditioner and a start: in float, and the vectors by
/// few steps of subspace iteration.
struct CoarsestLevel {
  std::vector<float> vectors;  ///< Row-major, rows by columns; the trivial one first, descending.
  std::vector<double> values;  ///< Theirs, the trivial one's 1.
  std::vector<float> inverse;  ///< Rows by rows.
};

/// `values` are A's as HostDiaMatrix holds them, but that nothing is read after the last diagonal's
/// shape.rows: they may be one image's of several. Rows and columns whose `sqrt_degree` is not
/// positive are zero in the result. Nothing if fewer than `columns` are left, or an entry is not
/// finite.
std::optional<CoarsestLevel> solve_coarsest_level(const DiaShape& shape, const float* values,
                                                  std::span<const float> sqrt_degree, int columns);

/// The inverse of I - A, rows by rows, where it is positive definite: on the coarsest level of a
/// matrix whose rows of seeded pixels were eliminated. It serves a preconditioner: pieces of the
/// image without any seed, on which I - A is singular, get some large multiple of their trivial
/// vector. `values` are A's as HostDiaMatrix holds them, but that nothing is read after the last
/// diagonal's shape.rows. Rows and columns whose `sqrt_degree` is not positive are zero in the
/// result. Nothing if an entry is not finite.
std::optional<std::vector<float>> definite_inverse(const DiaShape& shape, const float* values,
                                                   std::span<const float> sqrt_degree);

}  // namespace diacut
