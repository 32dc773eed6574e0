#pragma once

#include <optional>
#include <vector>

#include "diacut/parameters.hpp"
#include "diacut/progress.hpp"
#include "eigen/device_eigenvectors.hpp"
#include "matrix/batch.hpp"
#include "matrix/block.hpp"
#include "matrix/dia_matrix.hpp"
#include "matrix/stencil.hpp"
#include "matrix/symmetric_dia.hpp"
#include "opencl/memory_budget.hpp"

namespace diacut {

/// The eigenvectors of A level by level: dense on the coarsest grid, of a few hundred elements,
/// then interpolated from each grid to the next finer one and, but for the smallest grids, iterated
/// there by Lobpcg, whose preconditioner is the V-cycle over the coarser grids. An iteration costs
/// a fixed number of products with the finest grid's matrix, and the number of iterations does not
/// grow with the image.
///
/// All images of the batch share launches; one result for each. Nothing if an image cannot be
/// coarsened (see CoarseLevels::build) or has fewer than `least` elements with data.
std::optional<std::vector<DeviceEigenvectors>> multilevel_eigenvectors(
    Context& context, const DiaMatrix& matrix, const Batch& batch, const Stencil& stencil,
    const Buffer<float>& sqrt_degree, std::size_t least, const EigenParameters& parameters,
    const Watch& watch);

/// The eigenvectors with compressed matrices on all grids: see CoarseLevels::build().
std::optional<std::vector<DeviceEigenvectors>> multilevel_eigenvectors(
    Context& context, DiaMatrix&& matrix, const SymmetricDia& compressed, const Batch& batch,
    const Stencil& stencil, const Buffer<float>& sqrt_degree, std::size_t least,
    const EigenParameters& parameters, const Watch& watch);

/// Adds what multilevel_eigenvectors() allocates on the device, its result included.
void budget_multilevel(MemoryBudget& budget, const Batch& batch, const Stencil& stencil,
                       const EigenParameters& parameters, MatrixForm form);

/// Bytes of device memory that multilevel_eigenvectors() holds, beside the matrix and its
/// compressed form, until it has freed the matrix.
std::size_t multilevel_building_memory(const Grid& grid, const Stencil& stencil,
                                       const EigenParameters& parameters);

}  // namespace diacut
