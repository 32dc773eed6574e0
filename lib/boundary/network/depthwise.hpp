#pragma once

#include <cstddef>
#include <vector>

#include "boundary/network/conv.hpp"
#include "opencl/context.hpp"

namespace diacut {

/// kernels/boundary/network/depthwise.cl with its weights on the device; shape.inputs ==
/// shape.outputs.
class NetworkDepthwise {
 public:
  /// weights: [channel][tap, row by row]; bias: [channel].
  NetworkDepthwise(Context& context, const ConvolutionShape& shape,
                   const std::vector<float>& weights, const std::vector<float>& bias);

  /// Bytes that the constructor allocates.
  static std::size_t memory(const ConvolutionShape& shape);

  /// Enqueues as NetworkConv's, for one input.
  void operator()(const NetworkPlanes& planes, const Buffer<float>& in, const Buffer<float>* added,
                  Buffer<float>& out);

 private:
  Context* context_;
  ConvolutionShape shape_;
  int lanes_;
  Buffer<float> weights_;
  Buffer<float> bias_;
  cl::Kernel kernel_;
};

}  // namespace diacut
