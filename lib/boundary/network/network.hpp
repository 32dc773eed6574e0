#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "boundary/network/convolution_shape.hpp"

namespace diacut {

/// An intermediate result of a network: `channels` planes at a level. Level 0 has the size of the
/// input image; each further level has half of the sides of the level before, rounded up.
struct NetworkTensor {
  std::string name;
  int channels = 0;
  int level = 0;
};

enum class NetworkOpKind { kConvolution, kDepthwise, kMaxPool, kUpsample, kSigmoid };

/// One operation of a network. Tensors are named by their indices in Network::tensors. The members
/// from `added` on belong to convolutions alone.
struct NetworkOp {
  NetworkOpKind kind = NetworkOpKind::kConvolution;
  std::vector<int> inputs;  ///< Joined into one tensor, their channels in this order.
  int output = -1;
  int added = -1;  ///< The tensor that is added after the bias and before the limits; -1: none.
  ConvolutionShape shape;
  std::vector<float> weights;  ///< [output channel][input channel (depthwise: 1)][row][column].
  std::vector<float> bias;     ///< [output channel].
};

/// A convolutional network that maps an sRGB picture to a boundary map, and maybe to a map of the
/// inside of objects: from three channels 4 (v - 1/2) of values v in [0, 1] to one or two channels
/// in [0, 1]. Convolutions have zero padding; of
/// stride 1 they keep the size, of stride 2 they give a tensor of the next level. Max pooling takes
/// 2x2 pixels, fewer at an odd edge. Upsampling doubles the sides bilinearly with half-pixel
/// centres, repeats the edge pixels, and crops to the sides of its output's level. The last
/// operation is the only sigmoid.
struct Network {
  std::vector<NetworkTensor> tensors;  ///< The first one is the input.
  std::vector<NetworkOp> ops;          ///< In the order of execution.

  int input() const { return 0; }
  int output() const { return ops.back().output; }
  /// The channels of the output: 1, the boundary map, or 2, the inside map after it.
  int outputs() const { return tensors[static_cast<std::size_t>(output())].channels; }
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

/// Most tensors that a convolution joins into one.
inline constexpr std::size_t kMaxNetworkInputs = 4;

}  // namespace diacut
