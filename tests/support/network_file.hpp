#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

namespace diacut::testing {

/// How a test's convolution is made.
struct ConvolutionSpec {
  int kernel = 3;
  int dilation = 1;
  bool relu = true;
  std::string added = {};
  bool depthwise = false;
  int stride = 1;
  int before = -1;  ///< Of the file's "before"; -1: not in the file.
  int most = 0;     ///< Of the file's "most"; 0: not in the file.
};

/// A file of a network with random weights, built op by op.
class NetworkFile {
 public:
  explicit NetworkFile(unsigned seed, bool half = true);

  /// Each returns `out`. `inputs` channels in, `outputs` out.
  std::string conv(const std::string& out, const std::string& in, int inputs, int outputs,
                   const ConvolutionSpec& spec = {});
  std::string upsample(const std::string& out, const std::string& in, const std::string& like);
  /// The end of the graph.
  void sigmoid(const std::string& in);

  /// The header, to be spoilt.
  nlohmann::json& header() { return header_; }
  nlohmann::json& graph() { return graph_; }
  std::vector<std::byte>& data() { return data_; }

  std::vector<std::byte> bytes() const;
  void write(const std::string& path) const;

 private:
  void add_tensor(const std::string& name, const std::vector<int>& shape, double scale);

  bool half_;
  std::mt19937 random_;
  nlohmann::json header_;
  nlohmann::json graph_;
  std::vector<std::byte> data_;
};

/// Three levels, odd numbers of channels, and every kind of operation: sums, dilation, channels by
/// themselves. `outputs`: 1, the boundary, or 2, the inside of objects too.
NetworkFile small_network(unsigned seed, bool half = true, int outputs = 1);

/// The network of small_network(seed, true, 2) whose only output is that one of the two.
NetworkFile one_output_of_two(unsigned seed, int output);

/// A network of version 2: strides with symmetric and asymmetric padding, 5x5 taps, limits.
NetworkFile strided_network(unsigned seed);

}  // namespace diacut::testing
