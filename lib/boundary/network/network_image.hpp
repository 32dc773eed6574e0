#pragma once

#include <cstdint>

#include "boundary/gradient/image_gradient.hpp"
#include "boundary/network/planes.hpp"
#include "opencl/context.hpp"

namespace diacut {

/// A picture on the device, of width * height pixels with `channels` values in [0, 1] each (1:
/// grey, or 3), and how a network sees it: resized to scaled_width x scaled_height, and mirrored
/// beyond its edges by `border`.
struct NetworkPicture {
  const Buffer<float>& pixels;
  int channels = 3;
  int width = 0;
  int height = 0;
  int scaled_width = 0;
  int scaled_height = 0;
  int border = 0;
};

/// A map of width * height values, on the device, of which `border` on each side are not the
/// image's.
struct NetworkMap {
  Buffer<float>& values;
  int width = 0;
  int height = 0;
  int border = 0;
};

/// A rectangle of pixels to be taken from one place to another.
struct NetworkCopy {
  int from_x = 0;
  int from_y = 0;
  int to_x = 0;
  int to_y = 0;
  int width = 0;
  int height = 0;
};

/// kernels/boundary/network/network_image.cl; all enqueue and return.

/// The network's input: the part of what it sees from (left, top) on that `planes` has the size of;
/// the border is part of it.
void launch_network_input(Context& context, const NetworkPicture& picture, int left, int top,
                          const NetworkPlanes& planes, Buffer<float>& out);

/// The logistic function of a rectangle of a tensor of one channel, into the map.
void launch_network_output(Context& context, const NetworkPlanes& planes, const Buffer<float>& in,
                           const NetworkCopy& rectangle, const NetworkMap& map);

/// Adds `share` of the map, without its border and resized, to the strength on the grid; `first`
/// sets it.
void launch_network_blend(Context& context, const NetworkMap& map, const CueLayout& layout,
                          const Buffer<std::uint8_t>& valid, float share, bool first,
                          Buffer<float>& strength);

}  // namespace diacut
