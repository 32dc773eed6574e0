#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "opencl/context.hpp"

namespace diacut {

/// The pixels a random matrix connects: an image of width x height in rows of `stride`, and the
/// neighbours (dx, dy) of a pixel, pair after pair.
struct RandomMatrixShape {
  int width = 0;
  int height = 0;
  int stride = 0;
  std::size_t pitch = 0;
  std::vector<std::int32_t> steps;
};

/// Fills `values` (pitch elements a neighbour) with weights in (0, 1), zero where a neighbour lies
/// outside the image, by kernels/spmv/measure/random_matrix.cl. Waits. Throws DeviceError.
void random_matrix(Context& context, const RandomMatrixShape& shape, std::uint32_t seed,
                   Buffer<float>& values);

/// Element values[d * pitch + row] of that, the same to the bit.
float reference_random_element(const RandomMatrixShape& shape, std::uint32_t seed, std::size_t d,
                               std::size_t row);

}  // namespace diacut
