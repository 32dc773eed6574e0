#pragma once

#include <cstddef>
#include <vector>

#include "boundary/network/convolution_weights.hpp"
#include "boundary/network/planes.hpp"
#include "opencl/context.hpp"

namespace diacut {

/// kernels/boundary/network/conv_strided.cl: a convolution of stride 2 with its weights on the
/// device.
class NetworkConvStrided {
 public:
  /// weights: [output][input][tap, row by row]; bias: [output]. Preconditions: shape.stride is 2,
  /// shape.dilation 1.
  NetworkConvStrided(Context& context, const ConvolutionShape& shape,
                     const std::vector<float>& weights, const std::vector<float>& bias);

  /// Enqueues out = conv(in), plus `added` if not null, then min(most, max(0, .)) if shape.relu.
  /// `in` has the layout `from`, whose margin is at least before() and after() of the shape;
  /// `added` and `out` have the layout `to`, whose sides are half of those of `from`, rounded up.
  /// `out` is a different buffer from the others.
  void operator()(const NetworkPlanes& from, const Buffer<float>& in, const NetworkPlanes& to,
                  const Buffer<float>* added, Buffer<float>& out);

 private:
  Context* context_;
  ConvolutionShape shape_;
  int lanes_;
  ConvolutionWeights weights_;
  Kernel kernel_;
};

}  // namespace diacut
