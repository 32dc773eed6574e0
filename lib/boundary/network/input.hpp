#pragma once

#include "boundary/network/planes.hpp"
#include "boundary/network/turn.hpp"
#include "opencl/context.hpp"

namespace diacut {

/// A picture on the device and how a network gets it: width * height pixels with `channels` values
/// in [0, 1] each (1 for grey, or 3), which are resized to scaled_width x scaled_height pixels,
/// turned, and then mirrored beyond the edges by `border` pixels.
struct NetworkPicture {
  const Buffer<float>& pixels;
  int channels = 3;
  int width = 0;
  int height = 0;
  int scaled_width = 0;
  int scaled_height = 0;
  int border = 0;
  Turn turn = {};
  /// Where the pixels in memory lie in the picture, and how many are in a row of them; 0: all.
  int part_x = 0;
  int part_y = 0;
  int part_width = 0;
};

/// kernels/boundary/network/input.cl. A caller may ask for it early (opencl/kernel.hpp).
Kernel network_input_kernel(Context& context);

/// kernels/boundary/network/input.cl. Enqueues: three channels of a network's input into `out`,
/// planes.elements(3) floats. They are the part of the resized, turned and mirrored picture from
/// pixel (left, top) on, border included, that has the size of `planes`.
void launch_network_input(Context& context, const NetworkPicture& picture, int left, int top,
                          const NetworkPlanes& planes, Buffer<float>& out);

}  // namespace diacut
