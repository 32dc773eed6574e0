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

/// The eigenvectors of A level by level: dense on a grid of a few hundred elements, interpolated
/// from each grid to the next finer one, and there, but on the smallest grids, corrected by locally
/// optimal block conjugate gradients (A. Knyazev, 2001) whose preconditioner is a V-cycle over the
/// coarser grids. Each iteration costs the same few products on the finest grid at any size of
/// image.
///
/// Of all images of the batch at once. Nothing if one of them cannot be coarsened (see
/// CoarseLevels::build) or has fewer than `least` elements with data.
std::optional<std::vector<DeviceEigenvectors>> multilevel_eigenvectors(
    Context& context, const DiaMatrix& matrix, const Batch& batch, const Stencil& stencil,
    const Buffer<float>& sqrt_degree, std::size_t least, const EigenParameters& parameters,
    const Watch& watch);

/// The same with compressed matrices on all grids: see CoarseLevels::build().
std::optional<std::vector<DeviceEigenvectors>> multilevel_eigenvectors(
    Context& context, DiaMatrix&& matrix, const SymmetricDia& compressed, const Batch& batch,
    const Stencil& stencil, const Buffer<float>& sqrt_degree, std::size_t least,
    const EigenParameters& parameters, const Watch& watch);

/// What it allocates beside the matrix, what it returns included.
void budget_multilevel(MemoryBudget& budget, const Batch& batch, const Stencil& stencil,
                       const EigenParameters& parameters, MatrixForm form);

/// What there is, beside the matrix and its compressed form, until the matrix is freed.
std::size_t multilevel_building_memory(const Grid& grid, const Stencil& stencil,
                                       const EigenParameters& parameters);

}  // namespace diacut
