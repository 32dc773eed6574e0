#pragma once

#include <optional>
#include <vector>

#include "diacut/eigenvectors.hpp"
#include "diacut/parameters.hpp"
#include "diacut/progress.hpp"
#include "eigen/device_eigenvectors.hpp"
#include "matrix/grid.hpp"
#include "matrix/matvec.hpp"
#include "matrix/normalized_matrix.hpp"

namespace diacut {

/// How eigenvectors() solves.
struct SolverParameters {
  EigenParameters eigen = {};
  /// The product of a matrix in DIA form, for solvers that multiply single vectors: Lanczos and
  /// Spectra. The multilevel solver multiplies blocks of vectors by a kernel of its own.
  MatvecChoice matvec = {};
  /// The form in which the matrix is solved. The compressed form is not for SolverKind::kSpectra.
  MatrixForm form = MatrixForm::kDia;
  /// Where it is not 0, rough eigenvectors suffice, as filtered_eigenvectors() finds them on grids
  /// of at most so many elements. A matrix that it cannot take is solved exactly; one without any
  /// element with data has no vectors.
  std::size_t solved = 0;
};

/// The eigenvectors of the largest eigenvalues of `matrix`, one result for each image of its batch.
///
/// The report of a result names the solver and the product that ran. The multilevel solver leaves
/// one image to Lanczos where it cannot make the image coarser or float32 blocks do not reach the
/// tolerance; an image with few elements with data is solved densely. A result that has not
/// converged says so in its report, and an image with fewer elements with data than vectors are
/// asked for gets fewer vectors.
///
/// A batch of several images, which lie as batch_for() says, is solved by the multilevel solver
/// alone. If that is not possible for one of the images, or one does not converge, the result is
/// empty: each image has then to be solved by itself.
///
/// With SolverParameters::form kCompressed, `matrix` is compressed on the way, which frees its DIA
/// form as soon as nothing reads it, except where it is solved densely; eigenvalues and residuals
/// are then those of the compressed matrix. Otherwise `matrix` is not changed.
///
/// Precondition: `matrix` is in DIA form. Throws InputError (no element has data), DeviceError,
/// NumericalError (a NaN in the matrix), CancelledError.
std::vector<DeviceEigenvectors> eigenvectors(Context& context, NormalizedMatrix& matrix,
                                             const SolverParameters& parameters,
                                             const Watch& watch = {});

/// The solver that SolverKind::kAuto stands for is the multilevel one; any other stands for itself.
SolverKind solver_wanted(SolverKind asked);

/// The storages of a compressed copy of the matrix that Lanczos may multiply by without being asked
/// to; `asked` is MatvecParameters::storage. They are those with which the solver's residuals hold
/// for the whole matrix too: weights rounded by u change a residual by at most sqrt(2 lambda) u,
/// lambda being the eigenvalue of the normalized Laplacian, which is at most about 0.01 for the
/// last vector. With a relative tolerance float32 alone. None for other solvers.
std::vector<MatvecStorage> storages_within_tolerance(const EigenParameters& parameters,
                                                     MatvecStorage asked);

/// How several images of that size are batched for eigenvectors(); nothing if the solver that is
/// asked for takes one image at a time.
std::optional<Batch> batch_for(const Grid& image, int count, const Stencil& stencil,
                               const EigenParameters& parameters);

}  // namespace diacut
