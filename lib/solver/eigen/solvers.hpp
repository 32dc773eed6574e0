#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "diacut/parameters.hpp"
#include "diacut/progress.hpp"
#include "diacut/sparse.hpp"
#include "eigen/device_eigenvectors.hpp"
#include "eigen/lanczos/basis.hpp"
#include "matrix/matvec.hpp"
#include "matrix/normalized_matrix.hpp"

namespace diacut {

/// Basis vectors that thick-restart Lanczos keeps for these parameters.
int lanczos_basis_size(const EigenParameters& parameters);

/// What Lanczos iterates on: a symmetric operator whose spectrum lies in [-1, 1].
struct LanczosProblem {
  DeviceOperator* op = nullptr;
  std::size_t pitch = 0;  ///< Elements from one vector to the next: dia_pitch() of its rows.
  const Buffer<float>* mask = nullptr;     ///< 0 in the rows in which all vectors are 0.
  const Buffer<float>* trivial = nullptr;  ///< The eigenvector to the eigenvalue 1, if it is known.
  /// About how far below 1 the wanted eigenvalues reach; 0: to be found out.
  double span = 0;
};

/// The eigenpairs of the largest eigenvalues, with which the report says `converged` and how they
/// were found; vectors of `parameters` counts the trivial one, whose place is left 0 without one.
/// See thick_restart_lanczos().
DeviceEigenvectors lanczos(Context& context, const LanczosProblem& problem,
                           const EigenParameters& parameters, const Watch& watch);

/// Where the spectrum of any symmetric operator begins and ends, estimated by a few steps.
std::pair<double, double> spectrum_of(Context& context, const LanczosProblem& problem,
                                      const Watch& watch);

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

/// Matrices with at most this many elements with data are solved densely: Krylov methods handle
/// their spectra (tiny, flat or disconnected images) worst.
inline constexpr std::size_t kDenseLimit = 400;

/// The eigenvectors of a small matrix by a dense solver on the host, in double. Precondition:
/// `matrix` is of one image, in DIA form. Throws NumericalError (a NaN in the matrix).
DeviceEigenvectors dense_eigenvectors(Context& context, const NormalizedMatrix& matrix,
                                      const EigenParameters& parameters);

/// The eigenvectors of A level by level: dense on the coarsest grid, of a few hundred elements,
/// then interpolated from each grid to the next finer one and, but for the smallest grids, iterated
/// there by Lobpcg, whose preconditioner is the V-cycle over the coarser grids. An iteration costs
/// a fixed number of products with the finest grid's matrix, and the number of iterations does not
/// grow with the image.
///
/// The images of the matrix's batch share launches; there is one result for each. `form` is the
/// form of the matrices on all levels but the coarsest: for the compressed form, `matrix` is
/// compressed as soon as the next level is made from it (CoarseLevels::build()). Nothing is
/// returned if an image has fewer than `least` elements with data or cannot be coarsened; `matrix`
/// may be compressed by then. A result that has not converged says so in its report. Precondition:
/// `matrix` is in DIA form. Throws DeviceError, NumericalError, CancelledError.
std::optional<std::vector<DeviceEigenvectors>> multilevel_eigenvectors(
    Context& context, NormalizedMatrix& matrix, MatrixForm form, std::size_t least,
    const EigenParameters& parameters, const Watch& watch);

/// The eigenvectors of A, as exact as a filter makes them. Dense on the coarsest grid as for
/// multilevel_eigenvectors(), they are interpolated from each grid to the next finer one and, up to
/// the finest grid of at most `solved` elements an image, filtered there by a Chebyshev polynomial
/// of the grid's matrix (Y. Zhou and Y. Saad, "A Chebyshev-Davidson algorithm for large symmetric
/// eigenproblems", 2007). On the last of these grids they become Ritz vectors, on the host; further
/// up they are interpolated alone. Eigenvalues are those of that grid, divided by
/// CoarseLevels::kHops for each finer one, and so are rough; residual norms are of that grid.
///
/// Nothing is returned where multilevel_eigenvectors() returns nothing, but for elements that
/// cannot be interpolated to. Precondition: `matrix` is in DIA form. Throws DeviceError,
/// NumericalError.
std::optional<std::vector<DeviceEigenvectors>> filtered_eigenvectors(
    Context& context, NormalizedMatrix& matrix, std::size_t solved,
    const EigenParameters& parameters, const Watch& watch);

/// Asks for the kernels of filtered_eigenvectors() for matrices with that stencil, so that they are
/// built together with others.
void ask_for_filtered(Context& context, const Stencil& stencil, const EigenParameters& parameters);

/// The result of an eigensolver from what a Krylov or dense solver found: `basis` with orthonormal
/// vectors, matrix.shape().pitch elements apart, their `count`, and of the report how they were
/// found. Eigenvalues as quadratic forms of the Laplacian of `matrix`, residual norms by products
/// of `op`, which multiplies by `matrix`; pairs in ascending order of the eigenvalues, the trivial
/// pair first, and every vector's entry of largest magnitude positive. Precondition: the matrix is
/// of one image.
DeviceEigenvectors eigenpairs(Context& context, const NormalizedMatrix& matrix, DeviceOperator& op,
                              DeviceEigenvectors result);

/// Solves A x = b as conjugate_gradients() does, with the main diagonal of A. Precondition: neither
/// b nor x is empty, and both have as many numbers as A has rows.
SystemReport solve_system(Context& context, DeviceOperator& matrix, std::vector<float> diagonal,
                          std::span<const float> b, std::span<float> x, double tolerance,
                          int max_iterations, const Watch& watch);

}  // namespace diacut
