#pragma once

#include <vector>

#include "affinity/affinity_kernels.hpp"
#include "boundary/boundary.hpp"
#include "diacut/parameters.hpp"
#include "matrix/dia_matrix.hpp"
#include "matrix/normalized_matrix.hpp"

namespace diacut {

/// The pixels that a pixel has an affinity to.
Stencil affinity_stencil(const AffinityParameters& parameters);

/// The formula of the boundary's affinity.
AffinityWeight affinity_weight(const AffinityParameters& parameters);

/// What affinities by features share with those by the boundary map. Enqueues: the intervening
/// contours into the middle diagonal of `matrix` and those after it (InterveningContour::launch()).
void intervening_contours(Context& context, const BoundaryMap& boundary,
                          const AffinityParameters& parameters, DiaMatrix& matrix);

/// The kernels of affinity_matrix() on a grid, and of normalize().
struct AffinityKernels {
  AffinityKernels(Context& context, const Grid& grid, const AffinityParameters& parameters);

  InterveningContour contour;
  AffinityWeigh weigh;
  NormalizeKernels normalize;
};

/// W: for pixels i and j with data whose offset is in the stencil, a function (parameters.formula)
/// of the largest strength on the line between them, ends included; W_ii = 1; 0 elsewhere. Lines
/// are Bresenham's, drawn from the one that comes first in reading order, so W is symmetric to the
/// bit.
DiaMatrix affinity_matrix(Context& context, const BoundaryMap& boundary,
                          const AffinityParameters& parameters);

/// The normalized affinity A = D^-1/2 W D^-1/2 in the place of W, whose buffer it takes over. The
/// degrees D are row sums of W, in double where the device has it, else compensated. `batch` says
/// how the images lie on the grid of W. Throws DeviceError.
NormalizedMatrix normalize(Context& context, const Batch& batch, DiaMatrix affinity,
                           const AffinityParameters& parameters);

/// The reference twin of affinity_matrix(), on the host in double: values of a DIA form with the
/// shape of the grid and the stencil. `strength` and `valid` hold grid.rows() elements each.
std::vector<double> reference_affinity(const Grid& grid, const std::vector<float>& strength,
                                       const std::vector<std::uint8_t>& valid,
                                       const AffinityParameters& parameters);

}  // namespace diacut
