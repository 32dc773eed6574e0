#pragma once

#include <span>
#include <vector>

#include "boundary/boundary.hpp"
#include "diacut/parameters.hpp"
#include "matrix/interpolation.hpp"
#include "opencl/context.hpp"

namespace diacut {

/// The affinities of every pixel to the kept ones around it, for images of one size.
struct KeptAffinity {
  Interpolation interpolation;
  /// For each image, on its grid: 1 where a pixel has data and an affinity to a kept pixel, else 0.
  std::vector<Buffer<float>> masks;
};

/// Asks for the kernels of kept_affinity(), as ask_for_affinity_kernels() does for its own.
void ask_for_kept_kernels(Context& context, const AffinityParameters& parameters);

/// The affinities W of affinity_matrix() of which one pixel is kept (see Interpolation), computed
/// without the matrix. Preconditions: the maps have one size; the parameters have one stride and a
/// radius of at least 2. Throws DeviceError.
KeptAffinity kept_affinity(Context& context, std::span<const DeviceBoundary> maps,
                           const AffinityParameters& parameters);

/// The weights and roots of one image in double, written to be read. `strength`, `valid`: as
/// reference_affinity() takes them.
struct ReferenceKeptAffinity {
  std::vector<double> weights;
  std::vector<double> roots;
};
ReferenceKeptAffinity reference_kept_affinity(const Grid& grid, const std::vector<float>& strength,
                                              const std::vector<std::uint8_t>& valid,
                                              const AffinityParameters& parameters);

}  // namespace diacut
