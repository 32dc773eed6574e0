#pragma once

#include <cstddef>
#include <cstdint>

#include "matrix/batch.hpp"
#include "opencl/context.hpp"

namespace diacut {

/// Sums over the square roots of the degrees on every level, on the device, one of each kind for
/// each image: element level * batch.count + image.
struct LevelDegrees {
  Buffer<float> scales;          ///< 1 / the norm of D^1/2; infinite where D is 0.
  Buffer<std::uint32_t> counts;  ///< Elements with data: where D^1/2 is positive.
};

/// The kernels of kernels/eigen/multilevel/level_degrees.cl.
struct DegreeKernels {
  explicit DegreeKernels(Context& context);

  std::size_t group;
  Kernel partial;
  Kernel join;
};

/// Those sums for a matrix whose D^1/2 is `sqrt_degree` and whose images lie as `batch` says, on
/// `levels` grids: the matrix's own, and then each with every other row and column of the grid
/// before. Enqueues.
LevelDegrees level_degrees(Context& context, const Batch& batch, const Buffer<float>& sqrt_degree,
                           int levels);

}  // namespace diacut
