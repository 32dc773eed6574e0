#pragma once

#include <cstddef>
#include <cstdint>

#include "matrix/grid.hpp"
#include "opencl/context.hpp"

namespace diacut {

/// kernels/boundary/gradient/quantile.cl: the rank-th smallest (from 1) of the values of the pixels
/// with data. `values` has grid.pixels() elements, none negative, pixel (x, y) at y * width + x;
/// `valid` has grid.rows() elements. Returns a buffer on the device whose first element holds the
/// bits of the value found. Precondition: 1 <= rank <= the number of pixels with data.
Buffer<std::uint32_t> exact_quantile(Context& context, const Grid& grid,
                                     const Buffer<float>& values, const Buffer<std::uint8_t>& valid,
                                     std::uint32_t rank);

}  // namespace diacut
