#pragma once

#include <cstddef>
#include <vector>

#include "boundary/network/convolution_weights.hpp"
#include "boundary/network/planes.hpp"
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

  /// Enqueues out = conv(in), plus `added` if not null, then min(most, max(0, .)) if shape.relu.
  /// `in` has the layout `from`, whose margin is at least before() and after() of the shape;
  /// `added` and `out` have the layout `to`, whose sides are those of `from` divided by
  /// shape.stride and rounded up, and which is `from` where shape.stride is 1. `out` is a different
  /// buffer from the others.
  void operator()(const NetworkPlanes& from, const Buffer<float>& in, const NetworkPlanes& to,
                  const Buffer<float>* added, Buffer<float>& out);

 private:
  Context* context_;
  ConvolutionShape shape_;
  int lanes_;
  Buffer<float> weights_;
  Buffer<float> bias_;
  Kernel kernel_;
};

}  // namespace diacut
