#include "dnn_network.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace diacut::testing {

DnnNetwork::DnnNetwork(const Network& network) : layers_(network.tensors.size(), 0) {
  net_.setInputsNames({network.tensors.front().name});
  for (const NetworkOp& op : network.ops) {
    layers_[op.output] = add(network, op);
  }
  net_.setPreferableBackend(cv::dnn::DNN_BACKEND_OPENCV);
  net_.setPreferableTarget(cv::dnn::DNN_TARGET_CPU);
}

std::vector<float> DnnNetwork::run(const std::vector<float>& planes, int width, int height) {
  const int sizes[] = {1, 3, height, width};
  cv::Mat input(4, sizes, CV_32F);
  std::transform(planes.begin(), planes.end(), input.ptr<float>(),
                 [](float value) { return 4 * (value - 0.5f); });
  net_.setInput(input);
  const cv::Mat output = net_.forward();
  EXPECT_EQ(output.total(), static_cast<std::size_t>(width) * height);
  return {output.ptr<float>(), output.ptr<float>() + output.total()};
}

int DnnNetwork::layer(const std::string& type, const cv::dnn::LayerParams& params,
                      const std::vector<int>& inputs) {
  cv::dnn::LayerParams copy = params;
  const int id = net_.addLayer(type + std::to_string(count_++), type, copy);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    net_.connect(inputs[i], 0, id, static_cast<int>(i));
  }
  return id;
}

int DnnNetwork::add(const Network& network, const NetworkOp& op) {
  const auto input = static_cast<std::size_t>(op.input);
  const std::vector<int> inputs = {layers_[input]};
  const int channels = network.tensors[input].channels;
  cv::dnn::LayerParams params;
  switch (op.kind) {
    case NetworkOpKind::kUpsample:
      return add_upsampling(network, op, inputs);
    case NetworkOpKind::kSigmoid:
      return layer("Sigmoid", params, inputs);
    default:
      return add_convolution(op, inputs, channels);
  }
}

int DnnNetwork::add_upsampling(const Network& network, const NetworkOp& op,
                               const std::vector<int>& inputs) {
  cv::dnn::LayerParams params;
  params.set("interpolation", "bilinear");
  params.set("half_pixel_centers", true);
  params.set("zoom_factor", 2);
  const int doubled = layer("Resize", params, inputs);
  cv::dnn::LayerParams crop;
  crop.set("axis", 2);
  return layer("Crop", crop, {doubled, like(network, op)});
}

int DnnNetwork::add_convolution(const NetworkOp& op, std::vector<int> inputs, int channels) {
  cv::dnn::LayerParams params;
  const ConvolutionShape& shape = op.shape;
  const int outputs = shape.outputs;
  if (shape.before() != shape.after()) inputs = {add_padding(shape, inputs.front())};
  const int groups = shape.depthwise ? channels : 1;
  params.set("num_output", outputs);
  params.set("kernel_size", shape.kernel);
  params.set("pad", shape.before() == shape.after() ? shape.before() : 0);
  params.set("stride", shape.stride);
  params.set("dilation", shape.dilation);
  params.set("group", groups);
  params.set("bias_term", true);
  const int sizes[] = {outputs, channels / groups, shape.kernel, shape.kernel};
  params.blobs.push_back(cv::Mat(4, sizes, CV_32F, const_cast<float*>(op.weights.data())).clone());
  params.blobs.push_back(cv::Mat(1, outputs, CV_32F, const_cast<float*>(op.bias.data())).clone());
  int result = layer("Convolution", params, inputs);
  if (op.added >= 0) {
    cv::dnn::LayerParams sum;
    sum.set("operation", "sum");
    result = layer("Eltwise", sum, {result, layers_[op.added]});
  }
  if (!shape.relu) return result;
  if (std::isinf(shape.most)) return layer("ReLU", {}, {result});
  cv::dnn::LayerParams limits;
  limits.set("min_value", 0.0f);
  limits.set("max_value", shape.most);
  return layer("ReLU6", limits, {result});
}

int DnnNetwork::add_padding(const ConvolutionShape& shape, int input) {
  const int sides[] = {0, 0, 0, 0, shape.before(), shape.after(), shape.before(), shape.after()};
  cv::dnn::LayerParams padding;
  padding.set("paddings", cv::dnn::DictValue::arrayInt(sides, 8));
  return layer("Padding", padding, {input});
}

// A layer of the size to which an upsampling is cropped.
int DnnNetwork::like(const Network& network, const NetworkOp& op) const {
  const int level = network.tensors[op.output].level;
  for (std::size_t i = 0; i < network.tensors.size(); ++i) {
    if (network.tensors[i].level == level) return layers_[i];
  }
  return 0;
}

}  // namespace diacut::testing
