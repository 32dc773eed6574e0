#pragma once

#include "boundary/gradient/image_gradient.hpp"
#include "opencl/context.hpp"

namespace diacut {

/// kernels/boundary/gradient/thin.cl. Enqueues: the ridges of `magnitude`, closed against diagonal
/// steps, into `ridges`; `scratch` is overwritten. A pixel whose magnitude is below 1 - softness of
/// its rival's is no ridge.
void launch_cue_thin(Context& context, const CueLayout& layout, float softness,
                     const Buffer<float>& magnitude, const CueTensor& tensor,
                     Buffer<float>& scratch, Buffer<float>& ridges);

}  // namespace diacut
