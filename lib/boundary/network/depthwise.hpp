#pragma once

#include <cstddef>
#include <vector>

#include "boundary/network/conv.hpp"
#include "opencl/context.hpp"

namespace diacut {

/// kernels/boundary/network/depthwise.cl, a convolution of each channel by itself, with its weights
/// on the device. Precondition: shape.inputs == shape.outputs.
class NetworkDepthwise {
 public:
  /// weights: [channel][tap, row by row]; bias: [channel].
  NetworkDepthwise(Context& context, const ConvolutionShape& shape,
                   const std::vector<float>& weights, const std::vector<float>& bias);

  /// Bytes that the constructor allocates.
  static std::size_t memory(const ConvolutionShape& shape);

  /// Enqueues out = conv(in), plus `added` if not null, then max(0, .) if shape.relu. All tensors
  /// have the layout `planes`, whose margin is at least dilation * (kernel / 2); `out` is a
  /// different buffer from the others.
  void operator()(const NetworkPlanes& planes, const Buffer<float>& in, const Buffer<float>* added,
                  Buffer<float>& out);

 private:
  Context* context_;
  ConvolutionShape shape_;
  int lanes_;
  Buffer<float> weights_;
  Buffer<float> bias_;
  Kernel kernel_;
};

}  // namespace diacut
