#pragma once

#include <cstddef>
#include <cstdint>

#include "boundary/gradient/image_gradient.hpp"
#include "opencl/context.hpp"

namespace diacut {

/// kernels/boundary/gradient/quantile.cl: the rank-th smallest (from 1) of the values of pixels
/// with data, which are not negative. Its bits are the result's first element. The result stays on
/// the device. Precondition: 1 <= rank <= the number of pixels with data.
Buffer<std::uint32_t> cue_quantile(Context& context, const CueLayout& layout,
                                   const Buffer<float>& values, const Buffer<std::uint8_t>& valid,
                                   std::uint32_t rank);

/// Bytes that a call allocates, its result included.
std::size_t cue_quantile_memory();

}  // namespace diacut
