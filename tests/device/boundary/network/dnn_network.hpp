#pragma once

#include <opencv2/dnn.hpp>
#include <string>
#include <vector>

#include "boundary/network/network.hpp"

namespace diacut::testing {

/// A network computed by OpenCV's dnn module, independently of the kernels and of the plain loops.
class DnnNetwork {
 public:
  explicit DnnNetwork(const Network& network);

  /// The width * height values of the output for three planes of width * height values in [0, 1].
  std::vector<float> run(const std::vector<float>& planes, int width, int height);

 private:
  int layer(const std::string& type, const cv::dnn::LayerParams& params,
            const std::vector<int>& inputs);
  int add(const Network& network, const NetworkOp& op);
  int add_upsampling(const Network& network, const NetworkOp& op, const std::vector<int>& inputs);
  int add_padding(const ConvolutionShape& shape, int input);
  int add_convolution(const NetworkOp& op, std::vector<int> inputs, int channels);
  int like(const Network& network, const NetworkOp& op) const;

  cv::dnn::Net net_;
  std::vector<int> layers_;  ///< For each tensor, the layer that computes it.
  int count_ = 0;
};

}  // namespace diacut::testing
