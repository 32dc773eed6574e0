#pragma once

#include <cstddef>

#include "opencl/context.hpp"

namespace diacut {

/// How a network's tensor lies in memory, kernels/boundary/network/planes.clh: planes with margins
/// of zeros.
struct NetworkPlanes {
  int width = 0;
  int height = 0;
  int margin = 0;  ///< At least what any convolution reaches beyond the edge.
  int stride = 0;

  std::size_t rows() const {
    return static_cast<std::size_t>(height) + 2 * (static_cast<std::size_t>(margin) + 1);
  }
  std::size_t plane() const { return rows() * static_cast<std::size_t>(stride); }
  std::size_t elements(int channels) const { return static_cast<std::size_t>(channels) * plane(); }
};

NetworkPlanes network_planes(int width, int height, int margin);

/// Launches work-items (x, row, channel), x < stride rounded up to a group.
void launch_planes(Context& context, const cl::Kernel& kernel, const NetworkPlanes& planes,
                   int channels);

}  // namespace diacut
