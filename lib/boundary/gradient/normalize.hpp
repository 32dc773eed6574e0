#pragma once

#include <cstdint>

#include "matrix/grid.hpp"
#include "opencl/context.hpp"

namespace diacut {

/// kernels/boundary/gradient/normalize.cl. Enqueues: a boundary map of grid.rows() elements from
/// values of grid.pixels() elements, pixel (x, y) at y * width + x. A value is divided by the
/// larger of `floor` and the float whose bits are the first element of `quantile`, and limited to
/// 1; elements without data become 0.
void launch_gradient_normalize(Context& context, const Grid& grid, const Buffer<float>& values,
                               const Buffer<std::uint8_t>& valid,
                               const Buffer<std::uint32_t>& quantile, float floor,
                               Buffer<float>& boundary);

}  // namespace diacut
