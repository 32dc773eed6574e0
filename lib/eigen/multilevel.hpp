#pragma once

#include <optional>

#include "eigen/lanczos.hpp"
#include "sparse/dia_matrix.hpp"
#include "sparse/grid.hpp"
#include "sparse/stencil.hpp"

namespace diacut {

/// The eigenvectors of A level by level: dense on a grid of a few hundred elements, interpolated
/// from each grid to the next finer one, and there corrected by locally optimal block conjugate
/// gradients (A. Knyazev, 2001) whose preconditioner is a V-cycle over the coarser grids. Each
/// iteration costs the same few products on the finest grid at any size of image.
///
/// Nothing if the image cannot be coarsened (see CoarseLevels::build) or has too few elements with
/// data. `degrees` are the elements of sqrt_degree.
std::optional<KrylovResult> multilevel_eigenvectors(Context& context, const DiaMatrix& matrix,
                                                    const Grid& grid, const Stencil& stencil,
                                                    const Buffer<float>& sqrt_degree,
                                                    const std::vector<float>& degrees,
                                                    const EigenParameters& parameters,
                                                    const Watch& watch);

/// What it allocates beside the matrix, what it returns included.
void plan_multilevel(MemoryPlan& plan, const Grid& grid, const Stencil& stencil,
                     const EigenParameters& parameters);

}  // namespace diacut
