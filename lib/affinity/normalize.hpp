#pragma once

#include <cstddef>
#include <cstdint>

#include "opencl/context.hpp"

namespace diacut {

/// kernels/affinity/normalize.cl. Enqueues: sqrt_degree and inverse (rows elements each) from the
/// matrix's row sums, then values[d * pitch + row] *= inverse[row] * inverse[row + offsets[d]].
void launch_affinity_normalize(Context& context, Buffer<float>& values,
                               const Buffer<std::int64_t>& offsets, std::size_t rows,
                               std::size_t pitch, Buffer<float>& sqrt_degree,
                               Buffer<float>& inverse);

}  // namespace diacut
