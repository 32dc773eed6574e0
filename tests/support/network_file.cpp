#include "network_file.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <opencv2/core.hpp>

namespace diacut::testing {

NetworkFile::NetworkFile(unsigned seed, bool half) : half_(half), random_(seed) {
  header_ = nlohmann::json::object();
  header_["__metadata__"] = {{"format", "diacut-network"}, {"version", "1"}};
  graph_ = {{"input", "image"}, {"output", "edges"}, {"ops", nlohmann::json::array()}};
}

void NetworkFile::add_tensor(const std::string& name, const std::vector<int>& shape, double scale) {
  std::normal_distribution<float> normal(0.0f, static_cast<float>(scale));
  std::size_t count = 1;
  for (const int size : shape) count *= static_cast<std::size_t>(size);
  const std::size_t begin = data_.size();
  const std::size_t element = half_ ? 2 : 4;
  data_.resize(begin + count * element);
  for (std::size_t i = 0; i < count; ++i) {
    const float value = normal(random_);
    const cv::float16_t rounded(value);
    const void* from = half_ ? static_cast<const void*>(&rounded) : &value;
    std::memcpy(data_.data() + begin + i * element, from, element);
  }
  header_[name] = {
      {"dtype", half_ ? "F16" : "F32"}, {"shape", shape}, {"data_offsets", {begin, data_.size()}}};
}

std::string NetworkFile::conv(const std::string& out, const std::string& in, int inputs,
                              int outputs, const ConvolutionSpec& spec) {
  const int inner = spec.depthwise ? 1 : inputs;
  add_tensor(out + ".weight", {outputs, inner, spec.kernel, spec.kernel},
             std::sqrt(1.5 / (inner * spec.kernel * spec.kernel)));
  add_tensor(out + ".bias", {outputs}, 0.2);
  nlohmann::json op = {{"op", "conv"},
                       {"in", nlohmann::json::array({in})},
                       {"out", out},
                       {"weight", out + ".weight"},
                       {"bias", out + ".bias"},
                       {"kernel", spec.kernel},
                       {"dilation", spec.dilation},
                       {"relu", spec.relu}};
  if (!spec.added.empty()) op["add"] = spec.added;
  if (spec.depthwise) op["depthwise"] = true;
  if (spec.stride != 1) op["stride"] = spec.stride;
  if (spec.before >= 0) op["before"] = spec.before;
  if (spec.most > 0) op["most"] = spec.most;
  graph_["ops"].push_back(op);
  return out;
}

std::string NetworkFile::upsample(const std::string& out, const std::string& in,
                                  const std::string& like) {
  graph_["ops"].push_back({{"op", "upsample"}, {"in", in}, {"like", like}, {"out", out}});
  return out;
}

void NetworkFile::sigmoid(const std::string& in) {
  graph_["ops"].push_back({{"op", "sigmoid"}, {"in", in}, {"out", "edges"}});
}

std::vector<std::byte> NetworkFile::bytes() const {
  nlohmann::json header = header_;
  header["__metadata__"]["graph"] = graph_.dump();
  const std::string text = header.dump();
  constexpr std::size_t kLength = 8;
  std::vector<std::byte> bytes(kLength + text.size() + data_.size());
  for (std::size_t i = 0; i < kLength; ++i) {
    bytes[i] = static_cast<std::byte>((static_cast<std::uint64_t>(text.size()) >> (8 * i)) & 0xff);
  }
  std::memcpy(bytes.data() + kLength, text.data(), text.size());
  std::copy(data_.begin(), data_.end(),
            bytes.begin() + static_cast<std::ptrdiff_t>(kLength + text.size()));
  return bytes;
}

void NetworkFile::write(const std::string& path) const {
  const std::vector<std::byte> all = bytes();
  std::ofstream stream(path, std::ios::binary);
  stream.write(reinterpret_cast<const char*>(all.data()), static_cast<std::streamsize>(all.size()));
}

NetworkFile small_network(unsigned seed, bool half, int outputs) {
  NetworkFile file(seed, half);
  file.header()["__metadata__"]["version"] = "2";
  file.conv("stem", "image", 3, 9);
  file.conv("a0", "stem", 9, 9, {.dilation = 2});
  file.conv("b0", "a0", 9, 9, {.added = "stem"});
  file.conv("p1", "b0", 9, 9, {.kernel = 1, .relu = false, .depthwise = true, .stride = 2});
  file.conv("a1", "p1", 9, 12);
  file.conv("d1", "a1", 12, 12, {.dilation = 3, .relu = false, .depthwise = true});
  file.conv("b1", "d1", 12, 12, {.kernel = 1, .added = "a1"});
  file.conv("p2", "b1", 12, 12, {.kernel = 1, .relu = false, .depthwise = true, .stride = 2});
  file.conv("a2", "p2", 12, 17, {.dilation = 4});
  file.conv("c2", "a2", 17, 5, {.kernel = 1, .relu = false});
  file.upsample("u1", "c2", "b1");
  file.conv("e1", "u1", 5, 6, {.relu = false});
  file.upsample("u0", "e1", "stem");
  file.conv("e0", "u0", 6, 9, {.kernel = 1, .added = "b0"});
  file.conv("logit", "e0", 9, outputs, {.relu = false});
  file.sigmoid("logit");
  if (outputs == 2) file.header()["__metadata__"]["outputs"] = "boundary,inside";
  return file;
}

NetworkFile one_output_of_two(unsigned seed, int output) {
  NetworkFile file = small_network(seed, true, 2);
  file.header()["__metadata__"].erase("outputs");
  for (const char* name : {"logit.weight", "logit.bias"}) {
    nlohmann::json& kept = file.header()[name];
    nlohmann::json& other = file.header()[std::string("unused.") + name];
    const std::size_t begin = kept["data_offsets"][0];
    const std::size_t end = kept["data_offsets"][1];
    const std::size_t middle = (begin + end) / 2;
    kept["shape"][0] = 1;
    other = kept;
    (output == 0 ? kept : other)["data_offsets"] = {begin, middle};
    (output == 0 ? other : kept)["data_offsets"] = {middle, end};
  }
  return file;
}

NetworkFile strided_network(unsigned seed) {
  NetworkFile file(seed);
  file.header()["__metadata__"]["version"] = "2";
  file.conv("stem", "image", 3, 11, {.stride = 2, .most = 2});
  file.conv("a1", "stem", 11, 11, {.depthwise = true, .most = 1});
  file.conv("b1", "a1", 11, 11, {.kernel = 1, .relu = false, .added = "stem"});
  file.conv("a2", "b1", 11, 11, {.depthwise = true, .stride = 2, .before = 0, .most = 1});
  file.conv("b2", "a2", 11, 11, {.kernel = 5, .depthwise = true, .before = 2});
  file.conv("a3", "b2", 11, 11, {.kernel = 5, .relu = false, .depthwise = true, .stride = 2});
  file.conv("b3", "a3", 11, 11, {.stride = 2, .before = 0});
  file.conv("c3", "a3", 11, 11,
            {.kernel = 5, .added = "b3", .depthwise = true, .stride = 2, .before = 1});
  file.conv("d3", "a3", 11, 11, {.relu = false, .added = "c3", .stride = 2});
  file.upsample("u3", "d3", "a3");
  file.conv("e2", "u3", 11, 11, {.kernel = 1, .added = "a3"});
  file.upsample("u2", "e2", "b2");
  file.upsample("u1", "u2", "b1");
  file.conv("e1", "u1", 11, 5);
  file.conv("logit", "e1", 5, 1, {.relu = false});
  file.upsample("u0", "logit", "image");
  file.sigmoid("u0");
  return file;
}

}  // namespace diacut::testing
