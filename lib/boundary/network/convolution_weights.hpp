#pragma once

#include <cstddef>
#include <vector>

#include "boundary/network/convolution_shape.hpp"
#include "opencl/context.hpp"

namespace diacut {

/// Weights and biases of a convolution on the device, as conv.cl, conv_patch.cl and conv_strided.cl
/// read them.
struct ConvolutionWeights {
  /// Output channels of a block: their weights for one tap lie side by side.
  static constexpr int kBlock = 8;

  /// weights: [output][input][tap, row by row]; bias: [output].
  ConvolutionWeights(Context& context, const ConvolutionShape& shape,
                     const std::vector<float>& weights, const std::vector<float>& bias);

  /// Blocks of output channels.
  static std::size_t blocks(const ConvolutionShape& shape);
  /// Bytes that the constructor allocates.
  static std::size_t memory(const ConvolutionShape& shape);

  Buffer<float> weights;  ///< [block][input][tap][output in block], zeros beyond the last output.
  Buffer<float> bias;     ///< [block][output in block], zeros beyond the last output.
};

}  // namespace diacut
