#pragma once

#include <cstdint>
#include <vector>

#include "diacut/parameters.hpp"
#include "diacut/progress.hpp"
#include "diacut/segmenter.hpp"
#include "opencl/memory_plan.hpp"
#include "sparse/dia_matrix.hpp"
#include "sparse/grid.hpp"
#include "sparse/operator.hpp"
#include "sparse/stencil.hpp"

namespace diacut {

/// Eigenvectors on the device. Vector k is elements [k * pitch, k * pitch + rows) of `basis`; of
/// unit norm; vector 0 is the trivial one; entries of elements without data are zero.
struct DeviceEigenvectors {
  std::size_t rows = 0;
  std::size_t pitch = 0;
  int count = 0;
  Buffer<float> basis;
  /// Eigenvalues of the normalised Laplacian, I - A, ascending: half the sum of
  /// a_ij s_i s_j (z_i/s_i - z_j/s_j)^2 in double (s = sqrt_degree), because 1 minus a float32
  /// Ritz value keeps no digit of them.
  std::vector<double> values;
  EigenReport report;
};

/// The solver that is asked for; for SolverKind::kAuto the multilevel one.
SolverKind solver_wanted(SolverKind asked);

/// The storages of a compressed matrix that a product with it may take by itself, `asked` being
/// MatvecParameters::storage: those with which the solver's residuals hold for the whole matrix
/// too. Weights rounded by u change a residual by sqrt(2 lambda) u at most, lambda the eigenvalue
/// of the normalised Laplacian: that of the last vector is at most about 0.01. None but for
/// Lanczos.
std::vector<MatvecStorage> storages_within_tolerance(const EigenParameters& parameters,
                                                     MatvecStorage asked);

/// What the solver allocates beside the matrix, what it returns included.
void plan_eigen(MemoryPlan& plan, const Grid& grid, const Stencil& stencil,
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

/// The same on the host, without the grid's padding.
Eigenvectors to_host(const DeviceEigenvectors& eigenvectors, const Grid& grid,
                     const Buffer<float>& sqrt_degree);

}  // namespace diacut
