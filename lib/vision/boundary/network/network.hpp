#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "opencl/kernel_file.hpp"

namespace diacut {

/// The size and kind of a convolution.
struct ConvolutionShape {
  /// Output channels of a block, unless each channel is by itself.
  static constexpr int kBlock = 8;

  int inputs = 0;     ///< Input channels.
  int outputs = 0;    ///< Output channels.
  int kernel = 1;     ///< Taps along each axis: 1, 3 or 5.
  int stride = 1;     ///< Input pixels from one output pixel to the next: 1 or 2.
  int shift = 0;      ///< Pixels by which the taps lie right of and below the symmetric place.
  int dilation = 1;   ///< Distance of neighbouring taps, in pixels.
  bool relu = false;  ///< Whether min(most, max(0, .)) ends the operation.
  float most = std::numeric_limits<float>::infinity();  ///< Used with `relu`.
  bool depthwise = false;  ///< Whether each output is of the input channel of its number alone.

  int taps() const { return kernel * kernel; }
  /// Input channels that an output channel is made of.
  int inner() const { return depthwise ? 1 : inputs; }
  /// Output channels whose weights for one tap lie side by side on a device.
  int block() const { return depthwise ? 1 : kBlock; }
  int blocks() const { return (outputs + block() - 1) / block(); }
  /// Pixels from the leftmost tap to the pixel that the output pixel lies on.
  int before() const { return dilation * (kernel / 2 - shift); }
  /// Pixels from the pixel that the output pixel lies on to the rightmost tap.
  int after() const { return dilation * (kernel - 1) - before(); }
};

/// An intermediate result of a network: `channels` planes at a level. Level 0 has the size of the
/// input image; each further level has half of the sides of the level before, rounded up.
struct NetworkTensor {
  std::string name;
  int channels = 0;
  int level = 0;
};

enum class NetworkOpKind { kConvolution, kUpsample, kSigmoid };

/// One operation of a network. Tensors are named by their indices in Network::tensors. The members
/// from `added` on belong to convolutions alone.
struct NetworkOp {
  NetworkOpKind kind = NetworkOpKind::kConvolution;
  int input = -1;
  int output = -1;
  int added = -1;  ///< The tensor that is added after the bias and before the limits; -1: none.
  ConvolutionShape shape;
  std::vector<float> weights;  ///< [output channel][shape.inner()][row][column].
  std::vector<float> bias;     ///< [output channel].
};

/// A convolutional network that maps an sRGB picture to a boundary map, and maybe to a map of the
/// inside of objects: from three channels 4 (v - 1/2) of values v in [0, 1] to one or two channels
/// in [0, 1]. Convolutions have zero padding; of stride 1 they keep the size, of stride 2 they give
/// a tensor of the next level. Upsampling doubles the sides bilinearly with half-pixel centres,
/// repeats the edge pixels, and crops to the sides of its output's level. The last operation is the
/// only sigmoid.
struct Network {
  std::vector<NetworkTensor> tensors;  ///< The first one is the input.
  std::vector<NetworkOp> ops;          ///< In the order of execution.
  int embedding = -1;  ///< The tensor of the picture's embedding (core/embedding.hpp); -1: none.

  int input() const { return 0; }
  int output() const { return ops.back().output; }
  /// The channels of the output: 1, the boundary map, or 2, the inside map after it.
  int outputs() const { return tensors[output()].channels; }
  /// Precondition: there is an embedding.
  const NetworkTensor& embedded() const { return tensors[embedding]; }
  /// The deepest level.
  int levels() const;
  /// The radius of the receptive field: how far the input pixels that an output pixel depends on
  /// lie from it at most, in pixels to each side.
  int reach() const;
  /// The most that any convolution at a level reads beyond the edge of a plane, in pixels of that
  /// level.
  int margin(int level) const;
  /// Multiplications and additions for an image of this size, counted as one each.
  double operations(int width, int height) const;
};

/// The length of a side of the image at a level: `side` halved `level` times, rounded up each time.
int network_side(int side, int level);

/// How a tensor of a network lies in memory (kernels/boundary/network/planes.clh): one plane of
/// floats for each channel, in which images lie one below the other, with margins of zeros.
struct NetworkPlanes {
  int width = 0;   ///< Of an image.
  int height = 0;  ///< Of an image.
  int margin = 0;  ///< At least how far any convolution reads beyond the edge, in pixels.
  int stride = 0;  ///< Elements from one row to the next.
  int images = 1;

  /// Rows of an image, margins included.
  std::size_t rows() const {
    return static_cast<std::size_t>(height) + 2 * (static_cast<std::size_t>(margin) + 1);
  }
  /// Elements of a plane before an image.
  std::size_t image(std::size_t number) const {
    return number * rows() * static_cast<std::size_t>(stride);
  }
  /// Elements of a plane.
  std::size_t plane() const { return image(static_cast<std::size_t>(images)); }
  std::size_t elements(int channels) const { return static_cast<std::size_t>(channels) * plane(); }
};

/// The layout of tensors of images of width x height pixels: strides that whole vectors divide and
/// that do not map neighbouring rows to the same cache sets.
NetworkPlanes network_planes(int width, int height, int margin, int images = 1);

/// How work is dealt to work-items: all of them, and those of a group.
struct NetworkRange {
  cl::NDRange global;
  cl::NDRange local;
};

/// Work-items (x, i, channel) for every `down` rows of all images, margins included; x runs to the
/// stride, rounded up to whole work-groups. With `lanes` > 1 pixels in a vector, as on a CPU, x is
/// 0 alone, and the work-item computes whole rows.
NetworkRange planes_range(const NetworkPlanes& planes, int channels, int lanes = 1, int down = 1);

/// Pixels that a work-item computes at once: the vector width of the device on a CPU, 1 elsewhere.
int network_lanes(Context& context);

}  // namespace diacut
