#pragma once

#include <cstdint>

#include "boundary/gradient/image_gradient.hpp"
#include "opencl/context.hpp"

namespace diacut {

/// kernels/boundary/gradient/strength.cl. Enqueues: strength (layout.stride * layout.height
/// elements) from values (layout.pixels()) as shares of the larger of `floor` and the float whose
/// bits are the first element of `quantile`.
void launch_cue_strength(Context& context, const CueLayout& layout, const Buffer<float>& values,
                         const Buffer<std::uint8_t>& valid, const Buffer<std::uint32_t>& quantile,
                         float floor, Buffer<float>& strength);

}  // namespace diacut
