#pragma once

#include <cstdint>
#include <vector>

#include "boundary/network/device_network.hpp"
#include "boundary/network/network.hpp"
#include "boundary/network/tiles.hpp"
#include "diacut/image.hpp"
#include "matrix/grid.hpp"
#include "opencl/context.hpp"

namespace diacut {

/// One of the eight ways to turn and mirror a picture by whole pixels. Pixel (u, v) of the turned
/// picture is pixel (x, y) of the picture: (x, y) = transposed ? (v, u) : (u, v), then x counted
/// from the right if mirrored_x, and y from below if mirrored_y.
struct Turn {
  bool transposed = false;
  bool mirrored_x = false;
  bool mirrored_y = false;

  bool operator==(const Turn&) const = default;
};

/// The turned picture's `second` turn: pixel (u, v) of the result is pixel second(u, v) of the
/// picture turned by `first`.
Turn composed(const Turn& first, const Turn& second);

/// The turn that brings an image to its canonical form, NetworkPose::kCanonical. Its moments are
/// sums of whole numbers, so that all eight forms of an image have the same canonical form to the
/// bit, unless they tie.
Turn canonical_turn(const Image& image);

/// The turns that BoundaryParameters::turns stands for, the picture as it is first. Precondition:
/// `count` is 1, 2, 4 or 8.
std::vector<Turn> network_turns(int count);

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

/// Asks for the kernels below, so that they are built together with others (opencl/context.hpp).
void ask_for_picture_kernels(Context& context);

/// kernels/boundary/network/input.cl. Enqueues: three channels of a network's input, of one of the
/// images of `planes`, into `out`, planes.elements(3) floats. They are the part of the resized,
/// turned and mirrored picture from pixel (left, top) on, border included, that has the size of
/// `planes`.
void launch_network_input(Context& context, const NetworkPicture& picture, int left, int top,
                          const NetworkPlanes& planes, std::size_t image, Buffer<float>& out);

/// A map of width * height values on the device, row by row. The outer `border` pixels on each side
/// do not belong to the image.
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

/// kernels/boundary/network/output.cl. Enqueues: the logistic function of a rectangle of one
/// channel of an image of `in`, a tensor in `planes`, into the map.
void launch_network_output(Context& context, const NetworkPlanes& planes, const Buffer<float>& in,
                           std::size_t image, int channel, const NetworkCopy& rectangle,
                           const NetworkMap& map);

/// kernels/boundary/network/output.cl. Enqueues: a rectangle of all channels of an image of `in`, a
/// tensor in `planes`, into the cells of an embedding.
void launch_network_embedding(Context& context, const NetworkPlanes& planes,
                              const Buffer<float>& in, std::size_t image,
                              const NetworkCopy& rectangle, DeviceEmbedding& embedding);

/// kernels/boundary/network/blend.cl. Enqueues: adds `share` times the map of a picture turned by
/// `turn`, without its border, turned back and resized to the grid's pixels, to `boundary`; with
/// `first` the result overwrites it instead. `valid` and `boundary` have grid.rows() elements;
/// `boundary` becomes 0 where `valid` is 0. The grid's first pixel is pixel (view.x, view.y) of the
/// picture. Precondition: a map of which a part is in memory is not turned.
void launch_network_blend(Context& context, const NetworkMap& map, const Turn& turn,
                          const Grid& grid, const Buffer<std::uint8_t>& valid, float share,
                          bool first, Buffer<float>& boundary, const PictureView& view);

/// kernels/boundary/network/upsample.cl: bilinear upsampling of `channels` planes. Enqueues.
/// Preconditions: `in` and `out` are different buffers, laid out as `from` and `to`; the sides of
/// `from` are half of those of `to`, rounded up.
void launch_network_upsample(Context& context, const NetworkPlanes& from, const Buffer<float>& in,
                             const NetworkPlanes& to, Buffer<float>& out, int channels);

}  // namespace diacut
