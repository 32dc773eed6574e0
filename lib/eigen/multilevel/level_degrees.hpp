#pragma once

#include <cstddef>
#include <cstdint>

#include "opencl/context.hpp"

namespace diacut {

/// What kernels/eigen/multilevel/level_degrees.cl finds, on the device: of each of several grids,
/// of each image there.
struct LevelDegrees {
  Buffer<float> scales;          ///< 1 / the norm of sqrt_degree; infinite where all are 0.
  Buffer<std::uint32_t> counts;  ///< Elements > 0.
};

/// `sqrt_degree` is of `images` images of width x height pixels, `stride` elements from one image
/// row to the next and `pitch` from one image to the next; each grid holds every other row and
/// column of the one before. Enqueues.
LevelDegrees level_degrees(Context& context, const Buffer<float>& sqrt_degree, int width,
                           int height, int stride, std::size_t pitch, int images, int levels);

/// Bytes that a call allocates, the result included.
std::size_t level_degrees_memory(std::size_t image_rows, std::size_t images, std::size_t levels);

}  // namespace diacut
