#include "boundary/network/convolution_weights.hpp"

namespace diacut {

namespace {

constexpr char kWeights[] = "the network's weights";

std::size_t weight_count(const ConvolutionShape& shape) {
  return ConvolutionWeights::blocks(shape) * ConvolutionWeights::kBlock *
         static_cast<std::size_t>(shape.inputs) * static_cast<std::size_t>(shape.taps());
}

std::size_t bias_count(const ConvolutionShape& shape) {
  return ConvolutionWeights::blocks(shape) * ConvolutionWeights::kBlock;
}

std::vector<float> packed(const ConvolutionShape& shape, const std::vector<float>& weights) {
  std::vector<float> result(weight_count(shape), 0.0f);
  const int taps = shape.taps();
  for (int output = 0; output < shape.outputs; ++output) {
    const int block = output / ConvolutionWeights::kBlock;
    for (int input = 0; input < shape.inputs; ++input) {
      for (int tap = 0; tap < taps; ++tap) {
        const auto from = (static_cast<std::size_t>(output) * shape.inputs + input) * taps + tap;
        const auto to = ((static_cast<std::size_t>(block) * shape.inputs + input) * taps + tap) *
                            ConvolutionWeights::kBlock +
                        output % ConvolutionWeights::kBlock;
        result[to] = weights[from];
      }
    }
  }
  return result;
}

}  // namespace

ConvolutionWeights::ConvolutionWeights(Context& context, const ConvolutionShape& shape,
                                       const std::vector<float>& unpacked,
                                       const std::vector<float>& biases)
    : weights(context.allocate<float>(weight_count(shape), kWeights)),
      bias(context.allocate<float>(bias_count(shape), kWeights)) {
  weights.upload(packed(shape, unpacked));
  std::vector<float> padded = biases;
  padded.resize(bias.size(), 0.0f);
  bias.upload(padded);
}

std::size_t ConvolutionWeights::blocks(const ConvolutionShape& shape) {
  return round_up(static_cast<std::size_t>(shape.outputs), kBlock) / kBlock;
}

std::size_t ConvolutionWeights::memory(const ConvolutionShape& shape) {
  return (weight_count(shape) + bias_count(shape)) * sizeof(float);
}

}  // namespace diacut
