#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "opencl/context.hpp"

namespace diacut {

/// A random stencil matrix: the image is width x height pixels in rows of `stride` pixels, and
/// `steps` has the neighbours of a pixel, dx and dy of one after the other.
struct RandomMatrixShape {
  int width = 0;
  int height = 0;
  int stride = 0;
  std::size_t pitch = 0;
  std::vector<std::int32_t> steps;
};

/// Fills `values` (`pitch` elements for each neighbour) with weights in (0, 1), zero where a
/// neighbour lies outside the image, by kernels/spmv/measure/random_matrix.cl. Waits for the
/// device. Throws DeviceError.
void random_matrix(Context& context, const RandomMatrixShape& shape, std::uint32_t seed,
                   Buffer<float>& values);

/// Element values[d * pitch + row] as random_matrix() writes it, to the bit.
float reference_random_element(const RandomMatrixShape& shape, std::uint32_t seed, std::size_t d,
                               std::size_t row);

}  // namespace diacut
