#pragma once

#include <cstddef>

#include "opencl/context.hpp"

namespace diacut {

/// Asks for the kernel, so that it is built together with others (opencl/kernel.hpp).
void request_cue_contour(Context& context);

/// kernels/contour/cue_contour.cl. Enqueues: contour = min(weight * boundary, 1) for the first
/// `elements` elements of both.
void launch_cue_contour(Context& context, const Buffer<float>& boundary, std::size_t elements,
                        float weight, Buffer<float>& contour);

}  // namespace diacut
