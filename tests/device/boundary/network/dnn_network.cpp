#include "dnn_network.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace diacut::testing {

DnnNetwork::DnnNetwork(const Network& network) : layers_(network.tensors.size(), 0) {
  net_.setInputsNames({network.tensors.front().name});
  for (const NetworkOp& op : network.ops) {
    layers_[static_cast<std::size_t>(op.output)] = add(network, op);
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
  EXPECT_EQ(output.total(), static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
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
  std::vector<int> inputs;
  int channels = 0;
  for (const int input : op.inputs) {
    inputs.push_back(layers_[static_cast<std::size_t>(input)]);
    channels += network.tensors[static_cast<std::size_t>(input)].channels;
  }
  cv::dnn::LayerParams params;
  switch (op.kind) {
    case NetworkOpKind::kMaxPool:
      params.set("pool", "max");
      params.set("kernel_size", 2);
      params.set("stride", 2);
      params.set("ceil_mode", true);
      return layer("Pooling", params, inputs);
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
  if (inputs.size() > 1) {
    cv::dnn::LayerParams concat;
    concat.set("axis", 1);
    inputs = {layer("Concat", concat, inputs)};
  }
  cv::dnn::LayerParams params;
  const int outputs = static_cast<int>(op.bias.size());
  const int groups = op.kind == NetworkOpKind::kDepthwise ? channels : 1;
  params.set("num_output", outputs);
  params.set("kernel_size", op.kernel);
  params.set("pad", op.dilation * (op.kernel / 2));
  params.set("dilation", op.dilation);
  params.set("group", groups);
  params.set("bias_term", true);
  const int shape[] = {outputs, channels / groups, op.kernel, op.kernel};
  params.blobs.push_back(cv::Mat(4, shape, CV_32F, const_cast<float*>(op.weights.data())).clone());
  params.blobs.push_back(cv::Mat(1, outputs, CV_32F, const_cast<float*>(op.bias.data())).clone());
  int result = layer("Convolution", params, inputs);
  if (op.added >= 0) {
    cv::dnn::LayerParams sum;
    sum.set("operation", "sum");
    result = layer("Eltwise", sum, {result, layers_[static_cast<std::size_t>(op.added)]});
  }
  return op.relu ? layer("ReLU", {}, {result}) : result;
}

// A layer of the size to which an upsampling is cropped.
int DnnNetwork::like(const Network& network, const NetworkOp& op) const {
  const int level = network.tensors[static_cast<std::size_t>(op.output)].level;
  for (std::size_t i = 0; i < network.tensors.size(); ++i) {
    if (network.tensors[i].level == level) return layers_[i];
  }
  return 0;
}

}  // namespace diacut::testing
