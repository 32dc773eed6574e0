#pragma once

#include <cstddef>
#include <cstdint>

#include "opencl/context.hpp"

namespace diacut {

/// The kernels of kernels/affinity/normalize.cl.
struct NormalizeKernels {
  explicit NormalizeKernels(Context& context);

  Kernel degree;
  Kernel normalize;
};

/// Enqueues: sqrt_degree[row], the square root of the sum of row
/// `row` of the matrix, and inverse[row] = 1 / sqrt_degree[row] (0 for a row of zeros); then
/// values[d * pitch + row] *= inverse[row] * inverse[row + offsets[d]]. sqrt_degree and inverse
/// have `rows` elements, offsets one for each diagonal.
void launch_affinity_normalize(Context& context, Buffer<float>& values,
                               const Buffer<std::int64_t>& offsets, std::size_t rows,
                               std::size_t pitch, Buffer<float>& sqrt_degree,
                               Buffer<float>& inverse);

}  // namespace diacut
