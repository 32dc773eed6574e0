#include "doctor/network_problems.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "boundary/network/conv_strided.hpp"
#include "boundary/network/depthwise.hpp"

namespace diacut {

namespace {

std::vector<float> normal_floats(std::size_t count, std::mt19937& random) {
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = normal(random);
  return values;
}

ReferenceTensor reference(const ConvolutionProblem& problem) {
  std::vector<const ReferenceTensor*> tensors;
  for (const ReferenceTensor& tensor : problem.inputs) tensors.push_back(&tensor);
  return reference_operation(problem.op, tensors,
                             problem.convolution.add ? &problem.added : nullptr,
                             problem.added.width, problem.added.height);
}

/// A sum of that many products, the bias and what is added.
ReferenceTensor allowed_error(ConvolutionProblem problem) {
  for (ReferenceTensor& tensor : problem.inputs) tensor = magnitudes(tensor);
  problem.added = magnitudes(problem.added);
  for (float& weight : problem.op.weights) weight = std::abs(weight);
  for (float& bias : problem.op.bias) bias = std::abs(bias);
  problem.op.shape.most = std::numeric_limits<float>::infinity();
  ReferenceTensor allowed = reference(problem);
  const double products =
      static_cast<double>(problem.op.weights.size()) / static_cast<double>(problem.op.bias.size());
  for (double& value : allowed.values) {
    value *= (products + 2) * std::numeric_limits<float>::epsilon();
  }
  return allowed;
}

}  // namespace

Image drawn_scene(int width, int height) {
  constexpr int kPatches = 16;
  constexpr int kChannels = 3;
  Image image{width, height, kChannels, {}, {}, {}};
  std::mt19937 random(3);
  std::uniform_real_distribution<float> uniform(0.0F, 1.0F);
  std::vector<float> patches(kPatches * kChannels);
  for (float& patch : patches) patch = uniform(random);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const int patch = (x / 9 + 5 * ((y + x / 3) / 11)) % kPatches;
      for (int c = 0; c < kChannels; ++c) {
        image.pixels.push_back(0.8F * patches[static_cast<std::size_t>(patch * kChannels + c)] +
                               0.2F * uniform(random));
      }
    }
  }
  return image;
}

ReferenceTensor random_tensor(int channels, int width, int height, std::mt19937& random) {
  std::normal_distribution<float> normal;
  ReferenceTensor tensor(channels, width, height);
  for (double& value : tensor.values) value = normal(random);
  return tensor;
}

std::vector<double> elements_of(const ReferenceTensor& tensor, const NetworkPlanes& planes) {
  std::vector<double> values(planes.elements(tensor.channels), 0.0);
  for (int c = 0; c < tensor.channels; ++c) {
    for (int y = 0; y < tensor.height; ++y) {
      for (int x = 0; x < tensor.width; ++x) {
        const std::size_t row = static_cast<std::size_t>(y + planes.margin + 1);
        values[static_cast<std::size_t>(c) * planes.plane() + row * planes.stride +
               static_cast<std::size_t>(x)] = tensor.at(c, x, y);
      }
    }
  }
  return values;
}

std::vector<float> laid_out(const ReferenceTensor& tensor, const NetworkPlanes& planes) {
  const std::vector<double> values = elements_of(tensor, planes);
  return {values.begin(), values.end()};
}

ReferenceTensor magnitudes(ReferenceTensor tensor) {
  for (double& value : tensor.values) value = std::abs(value);
  return tensor;
}

ConvolutionProblem::ConvolutionProblem(const ConvolutionCase& wanted) : convolution(wanted) {
  ConvolutionShape& shape = convolution.shape;
  for (const int channels : convolution.inputs) shape.inputs += channels;
  std::mt19937 random(
      static_cast<unsigned>(convolution.width * 31 + convolution.height * 7 + shape.outputs));
  op.kind = convolution.depthwise ? NetworkOpKind::kDepthwise : NetworkOpKind::kConvolution;
  op.shape = shape;
  for (const int channels : convolution.inputs) {
    inputs.push_back(random_tensor(channels, convolution.width, convolution.height, random));
  }
  const auto taps = static_cast<std::size_t>(shape.taps());
  const auto inner = static_cast<std::size_t>(convolution.depthwise ? 1 : shape.inputs);
  op.weights = normal_floats(static_cast<std::size_t>(shape.outputs) * inner * taps, random);
  op.bias = normal_floats(static_cast<std::size_t>(shape.outputs), random);
  const auto side = [&](int input) { return (input + shape.stride - 1) / shape.stride; };
  added = random_tensor(shape.outputs, side(convolution.width), side(convolution.height), random);
  const int margin = std::max(shape.before(), shape.after());
  from = network_planes(convolution.width, convolution.height, margin);
  // A margin of its own where the output belongs to another level.
  to = shape.stride == 1 ? from : network_planes(added.width, added.height, margin + 1);
  expected = reference(*this);
  allowed = allowed_error(*this);
}

void ConvolutionProblem::launch(Context& context, const std::vector<const Buffer<float>*>& tensors,
                                const Buffer<float>* added_tensor, const ConvolutionTile* tile,
                                Buffer<float>& out) const {
  const Buffer<float>& first = *tensors.front();
  if (convolution.depthwise) {
    NetworkDepthwise conv(context, op.shape, op.weights, op.bias);
    conv(from, first, to, added_tensor, out);
  } else if (op.shape.stride > 1) {
    NetworkConvStrided conv(context, op.shape, op.weights, op.bias);
    conv(from, first, to, added_tensor, out);
  } else {
    NetworkConv conv(context, op.shape, op.weights, op.bias);
    std::vector<ConvolutionInput> reads;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      reads.push_back({*tensors[i], convolution.inputs[i]});
    }
    if (tile != nullptr) {
      conv.run(*tile, from, reads, added_tensor, out);
    } else {
      conv(from, from, reads, added_tensor, out);
    }
  }
}

}  // namespace diacut
