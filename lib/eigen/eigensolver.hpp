#pragma once

#include <optional>
#include <vector>

#include "diacut/eigenvectors.hpp"
#include "diacut/parameters.hpp"
#include "diacut/progress.hpp"
#include "eigen/device_eigenvectors.hpp"
#include "matrix/batch.hpp"
#include "matrix/dia_matrix.hpp"
#include "matrix/grid.hpp"
#include "matrix/operator.hpp"
#include "matrix/stencil.hpp"
#include "opencl/memory_budget.hpp"

namespace diacut {

/// The solver that is asked for; for SolverKind::kAuto the multilevel one.
SolverKind solver_wanted(SolverKind asked);

/// The storages of a compressed matrix that a product with it may take by itself, `asked` being
/// MatvecParameters::storage: those with which the solver's residuals hold for the whole matrix
/// too. Weights rounded by u change a residual by sqrt(2 lambda) u at most, lambda the eigenvalue
/// of the normalized Laplacian: that of the last vector is at most about 0.01. None but for
/// Lanczos.
std::vector<MatvecStorage> storages_within_tolerance(const EigenParameters& parameters,
                                                     MatvecStorage asked);

/// What the solver allocates beside the matrix, what it returns included.
void budget_eigen(MemoryBudget& budget, const Batch& batch, const Stencil& stencil,
                  const EigenParameters& parameters);
/// The same for eigenvectors_compressed(): what there is beside the matrix, until that is freed,
/// and what there is without it.
void budget_eigen_compressed(MemoryBudget& before, MemoryBudget& after, const Grid& grid,
                             const Stencil& stencil, const EigenParameters& parameters);

/// Of that, what is left with the result.
void budget_eigenvectors(MemoryBudget& budget, const Batch& batch,
                         const EigenParameters& parameters);

/// The eigenvectors of the largest eigenvalues of `matrix`, which `op` multiplies by. `sqrt_degree`
/// is the trivial eigenvector (not of unit norm). Not converging is reported in the result. Fewer
/// vectors than asked for are returned when fewer elements have data. `matrix` lies on `grid` with
/// the diagonals of `stencil`. Throws DeviceError,
/// NumericalError (a NaN in the matrix), CancelledError.
DeviceEigenvectors eigenvectors(Context& context, DeviceOperator& op, const DiaMatrix& matrix,
                                const Grid& grid, const Stencil& stencil,
                                const Buffer<float>& sqrt_degree, const EigenParameters& parameters,
                                const Watch& watch = {});

/// The same of a matrix that it compresses, to half precision (compress_rooted()), and frees as
/// soon as it can: eigenvalues and residuals are those of the compressed one. Not for
/// SolverKind::kSpectra.
DeviceEigenvectors eigenvectors_compressed(Context& context, DiaMatrix&& matrix, const Grid& grid,
                                           const Stencil& stencil, const Buffer<float>& sqrt_degree,
                                           const EigenParameters& parameters,
                                           const Watch& watch = {});

/// How several images of that size are batched for eigenvectors_of_batch(); nothing if the solver
/// that is asked for takes one image at a time.
std::optional<Batch> batch_for(const Grid& image, int count, const Stencil& stencil,
                               const EigenParameters& parameters);

/// The same for several images of one size, whose kernels are launched together: `matrix` lies on
/// batch.grid() and has no entry between two images. Nothing if one of them cannot be solved so:
/// then each has to be tried by itself. Those that do not converge say so.
std::optional<std::vector<DeviceEigenvectors>> eigenvectors_of_batch(
    Context& context, const DiaMatrix& matrix, const Batch& batch, const Stencil& stencil,
    const Buffer<float>& sqrt_degree, const EigenParameters& parameters, const Watch& watch = {});

/// Vectors on the host, without the grid's padding.
Eigenvectors to_host(const DeviceEigenvectors& eigenvectors, const Grid& grid,
                     const Buffer<float>& sqrt_degree);

}  // namespace diacut
