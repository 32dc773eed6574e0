#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "opencl/context.hpp"
#include "opencl/launchers/network_planes.hpp"

namespace diacut {

/// A convolution's numbers.
struct ConvolutionShape {
  int inputs = 0;   ///< Channels of all inputs together.
  int outputs = 0;  ///< Channels.
  int kernel = 1;   ///< Taps along each axis, 1 or 3.
  int dilation = 1;
  bool relu = false;
};

/// A tensor that a convolution reads.
struct ConvolutionInput {
  const Buffer<float>& tensor;
  int channels = 0;
};

/// What one work-item of network_conv.cl computes: `vectors` vectors of `lanes` pixels, `group`
/// items a group, for kChannels output channels.
struct ConvolutionTile {
  int lanes = 1;
  int vectors = 1;
  int group = 1;

  bool operator==(const ConvolutionTile&) const = default;
};

/// kernels/network_conv.cl with its weights on the device.
class NetworkConv {
 public:
  /// Output channels that an item computes.
  static constexpr int kChannels = 8;
  /// Tensors taken as one by their channels, at most.
  static constexpr std::size_t kMaxInputs = 4;

  /// weights: [output][input][tap, row by row]; bias: [output].
  NetworkConv(Context& context, const ConvolutionShape& shape, const std::vector<float>& weights,
              const std::vector<float>& bias);

  /// Bytes that the constructor allocates.
  static std::size_t memory(const ConvolutionShape& shape);

  /// Enqueues out = conv(inputs), plus `added` if not null, rectified if the shape says so. All
  /// tensors have these planes, whose margin is at least dilation * (kernel / 2); `out` is another
  /// buffer than the rest. Preconditions: 1 to kMaxInputs inputs, shape.inputs channels together.
  void operator()(const NetworkPlanes& planes, const std::vector<ConvolutionInput>& inputs,
                  const Buffer<float>* added, Buffer<float>& out);
  /// The same with a tile of the caller's choice.
  void run(const ConvolutionTile& tile, const NetworkPlanes& planes,
           const std::vector<ConvolutionInput>& inputs, const Buffer<float>* added,
           Buffer<float>& out);

 private:
  ConvolutionTile choose_tile(const NetworkPlanes& planes) const;
  /// Made once.
  cl::Kernel& kernel(const ConvolutionTile& tile);

  Context* context_;
  ConvolutionShape shape_;
  Buffer<float> weights_;
  Buffer<float> bias_;
  std::vector<std::pair<ConvolutionTile, cl::Kernel>> kernels_;
};

/// Pixels that an item computes at once: the device's vectors on a CPU, one on others.
int network_lanes(Context& context);

}  // namespace diacut
