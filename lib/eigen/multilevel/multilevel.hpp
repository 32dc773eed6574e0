#pragma once

#include <optional>
#include <vector>

#include "diacut/parameters.hpp"
#include "diacut/progress.hpp"
#include "eigen/device_eigenvectors.hpp"
#include "matrix/normalized_matrix.hpp"

namespace diacut {

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

}  // namespace diacut
