#include "network_tensors.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "boundary/network/convolutions.hpp"
#include "guarded.hpp"

namespace diacut::testing {

namespace {

std::size_t element(const NetworkPlanes& planes, int channel, int x, int y) {
  return static_cast<std::size_t>(channel) * planes.plane() +
         static_cast<std::size_t>(y + planes.margin + 1) * planes.stride +
         static_cast<std::size_t>(x);
}

ReferenceTensor reference(const ConvolutionProblem& problem) {
  return reference_operation(problem.op, problem.input,
                             problem.convolution.add ? &problem.added : nullptr,
                             problem.added.width, problem.added.height);
}

/// A sum of that many products, the bias and what is added.
ReferenceTensor allowed_error(ConvolutionProblem problem) {
  problem.input = magnitudes(problem.input);
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

/// The weights of the `in` pixels of a side in pixel i of the side resized to `out` pixels.
std::vector<double> shares(int i, int in, int out) {
  std::vector<double> all(static_cast<std::size_t>(in), 0.0);
  const double step = static_cast<double>(in) / out;
  if (in > out) {
    for (int k = 0; k < in; ++k) {
      const double covered = std::min(k + 1.0, (i + 1) * step) - std::max<double>(k, i * step);
      all[static_cast<std::size_t>(k)] = std::max(covered, 0.0) / step;
    }
    return all;
  }
  const double centre = (i + 0.5) * step - 0.5;
  for (int k = -2; k < in + 2; ++k) {
    const double d = std::abs(k - centre);
    const double share = d < 1   ? 1.25 * d * d * d - 2.25 * d * d + 1
                         : d < 2 ? -0.75 * d * d * d + 3.75 * d * d - 6 * d + 3
                                 : 0;
    all[static_cast<std::size_t>(std::clamp(k, 0, in - 1))] += share;
  }
  return all;
}

}  // namespace

std::vector<float> reference_picture(const Image& image, int width, int height, int border) {
  ReferenceTensor resized(3, width, height);
  for (int y = 0; y < height; ++y) {
    const std::vector<double> rows = shares(y, image.height, height);
    for (int x = 0; x < width; ++x) {
      const std::vector<double> columns = shares(x, image.width, width);
      for (int channel = 0; channel < 3; ++channel) {
        double sum = 0;
        for (int j = 0; j < image.height; ++j) {
          for (int i = 0; i < image.width; ++i) {
            const auto pixel = static_cast<std::size_t>(j) * image.width + i;
            sum += rows[static_cast<std::size_t>(j)] * columns[static_cast<std::size_t>(i)] *
                   image.pixels[pixel * image.channels + std::min(channel, image.channels - 1)];
          }
        }
        resized.at(channel, x, y) = std::clamp(sum, 0.0, 1.0);
      }
    }
  }
  const auto inner = [](int at, int count) {
    while (at < 0 || at >= count) at = at < 0 ? -1 - at : 2 * count - 1 - at;
    return at;
  };
  std::vector<float> planes;
  for (int channel = 0; channel < 3; ++channel) {
    for (int y = -border; y < height + border; ++y) {
      for (int x = -border; x < width + border; ++x) {
        planes.push_back(
            static_cast<float>(resized.at(channel, inner(x, width), inner(y, height))));
      }
    }
  }
  return planes;
}

std::vector<float> random_values(std::size_t count, std::mt19937& random) {
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = normal(random);
  return values;
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
  shape.inputs = convolution.inputs;
  std::mt19937 random(
      static_cast<unsigned>(convolution.width * 31 + convolution.height * 7 + shape.outputs));
  op.kind = NetworkOpKind::kConvolution;
  op.shape = shape;
  input = random_tensor(shape.inputs, convolution.width, convolution.height, random);
  const auto taps = static_cast<std::size_t>(shape.taps());
  const auto inner = static_cast<std::size_t>(shape.inner());
  op.weights = random_values(static_cast<std::size_t>(shape.outputs) * inner * taps, random);
  op.bias = random_values(static_cast<std::size_t>(shape.outputs), random);
  const auto side = [&](int input) { return (input + shape.stride - 1) / shape.stride; };
  added = random_tensor(shape.outputs, side(convolution.width), side(convolution.height), random);
  const int margin = std::max(shape.before(), shape.after());
  from = network_planes(convolution.width, convolution.height, margin);
  // A margin of its own where the output belongs to another level.
  to = shape.stride == 1 ? from : network_planes(added.width, added.height, margin + 1);
  expected = reference(*this);
  allowed = allowed_error(*this);
}

void ConvolutionProblem::launch(Context& context, const Buffer<float>& in,
                                const Buffer<float>* added_tensor, const ConvolutionTile* tile,
                                Buffer<float>& out) const {
  NetworkConv conv(context, op);
  if (tile != nullptr) {
    conv.run(*tile, from, in, to, added_tensor, out);
  } else {
    conv(from, in, to, to, added_tensor, out);
  }
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

void expect_convolution(Context& context, const ConvolutionCase& convolution,
                        const ConvolutionTile* tile) {
  const ConvolutionShape& shape = convolution.shape;
  SCOPED_TRACE(::testing::Message()
               << convolution.width << "x" << convolution.height << ", kernel " << shape.kernel
               << ", stride " << shape.stride << ", shift " << shape.shift << ", dilation "
               << shape.dilation << ", " << convolution.inputs << " to " << shape.outputs);
  const ConvolutionProblem problem(convolution);
  Guarded<float> in(context, laid_out(problem.input, problem.from));
  Guarded<float> added(context, laid_out(problem.added, problem.to));
  Guarded<float> out(context, problem.to.elements(shape.outputs));
  problem.launch(context, *in, convolution.add ? &*added : nullptr, tile, *out);
  expect_tensor(out.values(), problem.to, problem.expected, problem.allowed);
}

}  // namespace diacut::testing
