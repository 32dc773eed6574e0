#include "network_tensors.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <opencv2/imgproc.hpp>
#include <optional>
#include <random>

#include "boundary/network/reference_network.hpp"
#include "right.hpp"

namespace diacut::testing {

namespace {

std::size_t element(const NetworkPlanes& planes, int channel, int x, int y) {
  return static_cast<std::size_t>(channel) * planes.plane() +
         static_cast<std::size_t>(y + planes.margin + 1) * planes.stride +
         static_cast<std::size_t>(x);
}

/// Normally distributed floats in `numbers`.
template <class Number>
void draw(std::vector<Number>& numbers, std::mt19937& random) {
  std::normal_distribution<float> normal;
  for (Number& each : numbers) each = normal(random);
}

template <class Number>
void take_magnitudes(std::vector<Number>& numbers) {
  for (Number& each : numbers) each = std::abs(each);
}

/// A tensor in the layout that kernels read, with zeros all around.
template <class Number>
std::vector<Number> laid_out(const ReferenceTensor& tensor, const NetworkPlanes& planes) {
  std::vector<Number> values(planes.elements(tensor.channels), 0);
  for (int c = 0; c < tensor.channels; ++c) {
    for (int y = 0; y < tensor.height; ++y) {
      for (int x = 0; x < tensor.width; ++x) {
        values[element(planes, c, x, y)] = static_cast<Number>(tensor.at(c, x, y));
      }
    }
  }
  return values;
}

}  // namespace

void expect_convolution(Context& context, const ConvolutionCase& convolution,
                        const ConvolutionTile* tile) {
  NetworkOp op;
  op.kind = NetworkOpKind::kConvolution;
  op.shape = convolution.shape;
  op.shape.inputs = convolution.inputs;
  const ConvolutionShape& shape = op.shape;
  const auto [inputs, given, add, width, height] = convolution;
  SCOPED_TRACE(::testing::Message()
               << width << "x" << height << ", kernel " << shape.kernel << ", stride "
               << shape.stride << ", shift " << shape.shift << ", dilation " << shape.dilation
               << ", " << inputs << " to " << shape.outputs);
  std::mt19937 random(static_cast<unsigned>(width * 31 + height * 7 + shape.outputs));
  ReferenceTensor input(inputs, width, height);
  draw(input.values, random);
  const auto outputs = static_cast<std::size_t>(shape.outputs);
  const auto products = static_cast<std::size_t>(shape.inner() * shape.taps());
  op.weights.resize(outputs * products);
  draw(op.weights, random);
  op.bias.resize(outputs);
  draw(op.bias, random);
  const auto side = [&](int of_input) { return (of_input + shape.stride - 1) / shape.stride; };
  ReferenceTensor added(shape.outputs, side(width), side(height));
  draw(added.values, random);
  const ReferenceTensor* const addend = add ? &added : nullptr;
  const int margin = std::max(shape.before(), shape.after());
  const NetworkPlanes from = network_planes(width, height, margin);
  // A margin of its own where the output belongs to another level.
  const NetworkPlanes to =
      shape.stride == 1 ? from : network_planes(added.width, added.height, margin + 1);

  NetworkConv conv(context, op, tile != nullptr ? std::optional(*tile) : std::nullopt);
  const std::vector<float> planes_in = laid_out<float>(input, from);
  const std::vector<float> planes_added = laid_out<float>(added, to);
  const auto reference = [&] {
    return reference_operation(op, input, addend, to.width, to.height);
  };
  const ReferenceTensor expected = reference();
  take_magnitudes(input.values);
  take_magnitudes(added.values);
  take_magnitudes(op.weights);
  take_magnitudes(op.bias);
  op.shape.most = std::numeric_limits<float>::infinity();
  const ReferenceTensor magnitude = reference();
  testing::expect_right(context, [&](Trial& trial) {
    const Buffer<float> in = trial.uploaded(planes_in);
    const Buffer<float> added_in = trial.uploaded(planes_added);
    Buffer<float> out = trial.empty(to.elements(shape.outputs));
    conv(from, in, to, to, addend != nullptr ? &added_in : nullptr, out);
    // A sum of that many products, the bias and what is added.
    trial.expect("convolution", out.download(), laid_out<double>(expected, to),
                 laid_out<double>(magnitude, to), static_cast<double>(products + 2));
  });
}

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

}  // namespace diacut::testing
