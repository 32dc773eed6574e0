#pragma once

#include <cstddef>

#include "opencl/context.hpp"

namespace diacut {

/// How a tensor of a network lies in memory (kernels/boundary/network/planes.clh): one plane of
/// floats for each channel, with margins of zeros.
struct NetworkPlanes {
  int width = 0;
  int height = 0;
  int margin = 0;  ///< At least how far any convolution reads beyond the edge, in pixels.
  int stride = 0;  ///< Elements from one row to the next.

  /// Rows of a plane, margins included.
  std::size_t rows() const {
    return static_cast<std::size_t>(height) + 2 * (static_cast<std::size_t>(margin) + 1);
  }
  /// Elements of a plane.
  std::size_t plane() const { return rows() * static_cast<std::size_t>(stride); }
  std::size_t elements(int channels) const { return static_cast<std::size_t>(channels) * plane(); }
};

/// The layout of tensors of width x height pixels: strides that whole vectors divide and that do
/// not map neighbouring rows to the same cache sets.
NetworkPlanes network_planes(int width, int height, int margin);

/// Launches work-items (x, row, channel) for every row of the planes, margins included; x runs to
/// the stride, rounded up to whole work-groups.
void launch_planes(Context& context, const Kernel& kernel, const NetworkPlanes& planes,
                   int channels);

/// Launches work-items (i, row, channel) for every row of the planes, margins included. With one
/// pixel in a vector, i runs to the stride, rounded up to whole work-groups; with `lanes` > 1, as
/// on a CPU, i is 0 alone, and the work-item computes the whole row.
void launch_rows(Context& context, const Kernel& kernel, const NetworkPlanes& planes, int lanes,
                 int channels);

/// Pixels that a work-item computes at once: the vector width of the device on a CPU, 1 elsewhere.
int network_lanes(Context& context);

}  // namespace diacut
