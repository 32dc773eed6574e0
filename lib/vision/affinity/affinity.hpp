#pragma once

#include <cstdint>
#include <vector>

#include "boundary/boundary.hpp"
#include "diacut/parameters.hpp"
#include "matrix/dia_matrix.hpp"
#include "matrix/kept_rows.hpp"
#include "matrix/normalized_matrix.hpp"
#include "matrix/stencil.hpp"

namespace diacut {

/// Bresenham's line (Algorithm for computer control of a digital plotter, IBM Systems Journal 4,
/// 1965) from (0, 0) to `end`: its pixels without the first and with the last. Each pixel is one
/// step along the axis in which the line is longer; along the other axis the line is rounded to the
/// nearest pixel, and a half away from the start.
std::vector<StencilOffset> bresenham(StencilOffset end);

/// The pixels that a pixel has an affinity to.
Stencil affinity_stencil(const AffinityParameters& parameters);

/// Asks for the kernels of affinity_matrix() and of normalize(): those that are asked for before
/// the first launch are built together.
void ask_for_affinity_kernels(Context& context, const AffinityParameters& parameters);

/// W: for pixels i and j with data whose offset is in the stencil, a function (parameters.formula)
/// of the largest strength on the line between them, ends included; W_ii = 1; 0 elsewhere. Lines
/// are Bresenham's, drawn from the one that comes first in reading order, so W is symmetric to the
/// bit.
DiaMatrix affinity_matrix(Context& context, const DeviceBoundary& boundary,
                          const AffinityParameters& parameters);

/// The normalized affinity A = D^-1/2 W D^-1/2 in the place of W, whose buffer it takes over. The
/// degrees D are row sums of W, in double where the device has it, else compensated. `batch` says
/// how the images lie on the grid of W. Throws DeviceError.
NormalizedMatrix normalize(Context& context, const Batch& batch, DiaMatrix affinity,
                           const AffinityParameters& parameters);

/// The normalized affinity of every other row and column of a batch: what contours need, at about a
/// quarter of the cost of the whole matrix.
struct KeptAffinity {
  /// R = T^-1 W S^-1, W being the affinities of affinity_matrix() between all pixels and the kept
  /// ones, S and T the square roots of its sums over the one and the other.
  KeptRows rows;
  Buffer<float> sqrt_degree;  ///< T, batch.grid().rows() elements; 0 where there is no data.
  /// R'R, the affinity matrix of the kept pixels: for pixels J and K the sum over all pixels i of
  /// W_iJ W_iK / t_i^2, normalized by its degrees S^2.
  NormalizedMatrix matrix;
};

/// Asks for the kernels of kept_affinity(), as ask_for_affinity_kernels() does for its own.
void ask_for_kept_affinity_kernels(Context& context, const AffinityParameters& parameters);

/// `boundary`: of all images of the batch, as batched() makes it. W is computed for the rows of the
/// kept pixels alone. Preconditions: the parameters have one stride and a radius of at least 2.
/// Throws DeviceError.
KeptAffinity kept_affinity(Context& context, const Batch& batch, const DeviceBoundary& boundary,
                           const AffinityParameters& parameters);

/// The reference twin of affinity_matrix(), on the host in double: values of a DIA form with the
/// shape of the grid and the stencil. `strength` and `valid` hold grid.rows() elements each.
std::vector<double> reference_affinity(const Grid& grid, const std::vector<float>& strength,
                                       const std::vector<std::uint8_t>& valid,
                                       const AffinityParameters& parameters);

}  // namespace diacut
