#include "network_tensors.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "boundary/network/conv_strided.hpp"
#include "boundary/network/depthwise.hpp"
#include "guarded.hpp"

namespace diacut::testing {

namespace {

std::size_t element(const NetworkPlanes& planes, int channel, int x, int y) {
  return static_cast<std::size_t>(channel) * planes.plane() +
         static_cast<std::size_t>(y + planes.margin + 1) * planes.stride +
         static_cast<std::size_t>(x);
}

/// The tensors of a convolution on the host.
struct Operands {
  NetworkOp op;
  std::vector<ReferenceTensor> inputs;
  ReferenceTensor added;
};

Operands random_operands(const ConvolutionCase& convolution) {
  const ConvolutionShape& shape = convolution.shape;
  std::mt19937 random(
      static_cast<unsigned>(convolution.width * 31 + convolution.height * 7 + shape.outputs));
  Operands operands;
  NetworkOp& op = operands.op;
  op.kind = convolution.depthwise ? NetworkOpKind::kDepthwise : NetworkOpKind::kConvolution;
  op.shape = shape;
  for (const int channels : convolution.inputs) {
    operands.inputs.push_back(
        random_tensor(channels, convolution.width, convolution.height, random));
  }
  const auto taps = static_cast<std::size_t>(shape.taps());
  const auto inner = static_cast<std::size_t>(convolution.depthwise ? 1 : shape.inputs);
  op.weights = random_values(static_cast<std::size_t>(shape.outputs) * inner * taps, random);
  op.bias = random_values(static_cast<std::size_t>(shape.outputs), random);
  const auto side = [&](int input) { return (input + shape.stride - 1) / shape.stride; };
  operands.added =
      random_tensor(shape.outputs, side(convolution.width), side(convolution.height), random);
  return operands;
}

ReferenceTensor reference(const Operands& operands, bool add) {
  std::vector<const ReferenceTensor*> inputs;
  for (const ReferenceTensor& tensor : operands.inputs) inputs.push_back(&tensor);
  return reference_operation(operands.op, inputs, add ? &operands.added : nullptr,
                             operands.added.width, operands.added.height);
}

/// How far each value may be off: a sum of that many products, the bias and what is added.
ReferenceTensor allowed_error(const Operands& operands, bool add) {
  Operands absolute = operands;
  for (ReferenceTensor& tensor : absolute.inputs) tensor = magnitudes(tensor);
  absolute.added = magnitudes(absolute.added);
  for (float& weight : absolute.op.weights) weight = std::abs(weight);
  for (float& bias : absolute.op.bias) bias = std::abs(bias);
  absolute.op.shape.most = std::numeric_limits<float>::infinity();
  ReferenceTensor allowed = reference(absolute, add);
  const double products = static_cast<double>(operands.op.weights.size()) /
                          static_cast<double>(operands.op.bias.size());
  for (double& value : allowed.values) value *= (products + 2) * kEpsilon;
  return allowed;
}

}  // namespace

ReferenceTensor random_tensor(int channels, int width, int height, std::mt19937& random) {
  std::normal_distribution<float> normal;
  ReferenceTensor tensor(channels, width, height);
  for (double& value : tensor.values) value = normal(random);
  return tensor;
}

std::vector<float> random_values(std::size_t count, std::mt19937& random) {
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = normal(random);
  return values;
}

std::vector<float> laid_out(const ReferenceTensor& tensor, const NetworkPlanes& planes) {
  std::vector<float> values(planes.elements(tensor.channels), 0.0f);
  for (int c = 0; c < tensor.channels; ++c) {
    for (int y = 0; y < tensor.height; ++y) {
      for (int x = 0; x < tensor.width; ++x) {
        values[element(planes, c, x, y)] = static_cast<float>(tensor.at(c, x, y));
      }
    }
  }
  return values;
}

ReferenceTensor magnitudes(ReferenceTensor tensor) {
  for (double& value : tensor.values) value = std::abs(value);
  return tensor;
}

void expect_tensor(const std::vector<float>& found, const NetworkPlanes& planes,
                   const ReferenceTensor& expected, const ReferenceTensor& allowed) {
  ASSERT_EQ(planes.width, expected.width);
  ASSERT_EQ(planes.height, expected.height);
  std::size_t wrong = 0;
  for (int c = 0; c < expected.channels; ++c) {
    for (int y = -planes.margin - 1; y < planes.height + planes.margin + 1; ++y) {
      for (int x = 0; x < planes.stride; ++x) {
        const double value = found[element(planes, c, x, y)];
        const bool inside = x < planes.width && y >= 0 && y < planes.height;
        const double wanted = inside ? expected.at(c, x, y) : 0;
        const double tolerance = inside ? allowed.at(c, x, y) : 0;
        if (!(std::abs(value - wanted) <= tolerance) && ++wrong <= 3) {
          ADD_FAILURE() << "channel " << c << ", " << x << ", " << y << ": " << value
                        << ", expected " << wanted << ", allowed " << tolerance;
        }
      }
    }
  }
  EXPECT_EQ(wrong, 0u);
}

void expect_convolution(Context& context, ConvolutionCase convolution,
                        const ConvolutionTile* tile) {
  ConvolutionShape& shape = convolution.shape;
  SCOPED_TRACE(::testing::Message()
               << convolution.width << "x" << convolution.height << ", kernel " << shape.kernel
               << ", stride " << shape.stride << ", shift " << shape.shift << ", dilation "
               << shape.dilation << ", " << ::testing::PrintToString(convolution.inputs) << " to "
               << shape.outputs);
  for (const int channels : convolution.inputs) shape.inputs += channels;
  const int margin = std::max(shape.before(), shape.after());
  const NetworkPlanes planes = network_planes(convolution.width, convolution.height, margin);
  const Operands operands = random_operands(convolution);
  // A margin of its own where the output belongs to another level.
  const NetworkPlanes to =
      shape.stride == 1 ? planes
                        : network_planes(operands.added.width, operands.added.height, margin + 1);
  std::vector<Guarded<float>> buffers;
  for (const ReferenceTensor& tensor : operands.inputs) {
    buffers.emplace_back(context, laid_out(tensor, planes));
  }
  Guarded<float> added_buffer(context, laid_out(operands.added, to));
  Guarded<float> out(context, to.elements(shape.outputs));
  const Buffer<float>* added = convolution.add ? &*added_buffer : nullptr;
  if (convolution.depthwise) {
    NetworkDepthwise conv(context, shape, operands.op.weights, operands.op.bias);
    conv(planes, *buffers.front(), to, added, *out);
  } else if (shape.stride > 1) {
    NetworkConvStrided conv(context, shape, operands.op.weights, operands.op.bias);
    conv(planes, *buffers.front(), to, added, *out);
  } else {
    NetworkConv conv(context, shape, operands.op.weights, operands.op.bias);
    std::vector<ConvolutionInput> reads;
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      reads.push_back({*buffers[i], convolution.inputs[i]});
    }
    if (tile != nullptr) {
      conv.run(*tile, planes, reads, added, *out);
    } else {
      conv(planes, reads, added, *out);
    }
  }
  expect_tensor(out.values(), to, reference(operands, convolution.add),
                allowed_error(operands, convolution.add));
}

}  // namespace diacut::testing
