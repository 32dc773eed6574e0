#pragma once

#include "boundary/network/planes.hpp"
#include "opencl/context.hpp"

namespace diacut {

/// A map of width * height values on the device, row by row without padding. The outer `border`
/// pixels on each side do not belong to the image.
struct NetworkMap {
  Buffer<float>& values;
  int width = 0;
  int height = 0;
  int border = 0;
  /// Where the values in memory lie in the map, and how many are in a row of them; 0: all.
  int part_x = 0;
  int part_y = 0;
  int part_width = 0;

  int row_length() const { return part_width > 0 ? part_width : width; }
};

/// A rectangle of width x height pixels, its upper left pixel in the source and in the target.
struct NetworkCopy {
  int from_x = 0;
  int from_y = 0;
  int to_x = 0;
  int to_y = 0;
  int width = 0;
  int height = 0;
};

/// kernels/boundary/network/output.cl. A caller may ask for it early (opencl/kernel.hpp).
Kernel network_output_kernel(Context& context);

/// kernels/boundary/network/output.cl. Enqueues: the logistic function of a rectangle of one
/// channel of `in`, a tensor in `planes`, into the map.
void launch_network_output(Context& context, const NetworkPlanes& planes, const Buffer<float>& in,
                           int channel, const NetworkCopy& rectangle, const NetworkMap& map);

}  // namespace diacut
