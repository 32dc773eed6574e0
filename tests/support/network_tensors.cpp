#include "network_tensors.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <opencv2/imgproc.hpp>

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

}  // namespace

std::vector<float> reference_picture(const Image& image, int width, int height, int border) {
  cv::Mat picture;
  cv::Mat(image.height, image.width, CV_32FC(image.channels),
          const_cast<float*>(image.pixels.data()))
      .convertTo(picture, CV_64F);
  const bool shrinks = width < image.width || height < image.height;
  cv::resize(picture, picture, {width, height}, 0, 0, shrinks ? cv::INTER_AREA : cv::INTER_CUBIC);
  picture = cv::min(cv::max(picture.reshape(1), 0.0), 1.0);
  cv::copyMakeBorder(picture.reshape(image.channels), picture, border, border, border, border,
                     cv::BORDER_REFLECT);
  std::vector<float> planes;
  for (int channel = 0; channel < 3; ++channel) {
    cv::Mat plane;
    cv::extractChannel(picture, plane, std::min(channel, image.channels - 1));
    planes.insert(planes.end(), plane.begin<double>(), plane.end<double>());
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
