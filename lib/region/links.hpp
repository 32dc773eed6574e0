#pragma once

#include "matrix/normalized_matrix.hpp"
#include "opencl/context.hpp"

namespace diacut {

/// kernels/region/links.cl: enqueues the affinities W_ij = s_i A_ij s_j, s = matrix.sqrt_degree(),
/// of each pixel and its neighbours to the right and below. `right` and `down` hold one value a
/// pixel, 0 where there is no neighbour. Preconditions: `matrix` is in DIA form, and its stencil's
/// radius is at least 1. Throws DeviceError.
void launch_region_links(Context& context, const NormalizedMatrix& matrix, Buffer<float>& right,
                         Buffer<float>& down);

}  // namespace diacut
