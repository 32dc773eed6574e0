#pragma once

#include "diacut/parameters.hpp"
#include "diacut/progress.hpp"
#include "eigen/device_eigenvectors.hpp"
#include "eigen/lanczos/basis.hpp"
#include "matrix/matvec.hpp"
#include "matrix/normalized_matrix.hpp"

namespace diacut {

/// Basis vectors that thick-restart Lanczos keeps for these parameters.
int lanczos_basis_size(const EigenParameters& parameters);

/// Thick-restart Lanczos (K. Wu and H. Simon, "Thick-restart Lanczos method for large symmetric
/// eigenvalue problems", 2000) on a Chebyshev polynomial of A, wholly on the device: basis in
/// float32, dot products in double (or compensated), full reorthogonalisation against the basis and
/// the trivial vector. The host sees the small projected matrix. `op` multiplies by `matrix`.
/// Preconditions: the matrix is of one image; `elements` of its elements have data, more than twice
/// the basis. Throws DeviceError, NumericalError (a NaN in the matrix), CancelledError.
DeviceEigenvectors thick_restart_lanczos(Context& context, DeviceOperator& op,
                                         const NormalizedMatrix& matrix, std::size_t elements,
                                         const EigenParameters& parameters, const Watch& watch);

/// Spectra's implicitly restarted Lanczos (SymEigsSolver) in double on the host, driving the
/// product on the device: the yardstick for our own solvers. `op` multiplies by `matrix`, which is
/// of one image; `elements` of its elements have data. Throws DeviceError, CancelledError.
DeviceEigenvectors spectra_lanczos(Context& context, DeviceOperator& op,
                                   const NormalizedMatrix& matrix, std::size_t elements,
                                   const EigenParameters& parameters, const Watch& watch);

/// The result of an eigensolver from what a Krylov or dense solver found: `basis` with orthonormal
/// vectors, matrix.shape().pitch elements apart, their `count`, and of the report how they were
/// found. Eigenvalues as quadratic forms of the Laplacian of `matrix`, residual norms by products
/// of `op`, which multiplies by `matrix`; pairs in ascending order of the eigenvalues, the trivial
/// pair first, and every vector's entry of largest magnitude positive. Precondition: the matrix is
/// of one image.
DeviceEigenvectors eigenpairs(Context& context, const NormalizedMatrix& matrix, DeviceOperator& op,
                              DeviceEigenvectors result);

}  // namespace diacut
