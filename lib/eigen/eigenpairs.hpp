#pragma once

#include "eigen/device_eigenvectors.hpp"
#include "eigen/lanczos/lanczos.hpp"
#include "matrix/normalized_matrix.hpp"
#include "matrix/operator.hpp"

namespace diacut {

/// The result of an eigensolver from the vectors that a Krylov or dense solver found: eigenvalues
/// as quadratic forms of the Laplacian of `matrix`, residual norms by products of `op`, which
/// multiplies by `matrix`; pairs in ascending order of the eigenvalues, the trivial pair first, and
/// every vector's entry of largest magnitude positive. Precondition: the matrix is of one image.
DeviceEigenvectors eigenpairs(Context& context, const NormalizedMatrix& matrix, DeviceOperator& op,
                              KrylovResult found);

}  // namespace diacut
