#pragma once

#include "boundary/gradient/image_gradient.hpp"
#include "opencl/context.hpp"

namespace diacut {

/// kernels/boundary/gradient/thin.cl: non-maximum suppression. Enqueues: the ridges of `magnitude`
/// into `ridges`, closed where they step diagonally. A pixel whose magnitude is less than
/// 1 - softness times the larger magnitude across the boundary becomes 0. All buffers have
/// grid.pixels() elements, pixel (x, y) at y * width + x; `scratch` is overwritten.
void launch_gradient_thin(Context& context, const Grid& grid, float softness,
                          const Buffer<float>& magnitude, const StructureTensor& tensor,
                          Buffer<float>& scratch, Buffer<float>& ridges);

}  // namespace diacut
