#include "boundary/network/load_network.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "boundary/network/safetensors.hpp"
#include "core/embedded_text.hpp"
#include "core/embedding.hpp"
#include "core/split_text.hpp"

namespace diacut {

namespace {

using Json = nlohmann::json;

// A graph beyond any of these limits is damaged or hostile: no network of this kind is near them.
constexpr std::size_t kMaxOps = 1024;
constexpr int kMaxChannels = 4096;
constexpr int kMaxLevel = 10;
constexpr int kMaxDilation = 64;
constexpr int kMaxKernel = 5;
constexpr int kMostLimit = 1000;
constexpr int kMostOutputs = 2;

/// Builds the network that a graph describes, with the weights that it names in a file, operation
/// by operation, and checks each. The graph is an object with the names of the "input" and "output"
/// tensors, maybe the name of the tensor "embedding", and the list "ops": objects with "op"
/// ("conv", "upsample" or "sigmoid"), "out", "in", and what the operation needs further ("kernel",
/// "dilation", "relu", "depthwise", "weight", "bias" and "add" of a convolution, "like" of an
/// upsampling).
class Builder {
 public:
  Builder(const Safetensors& file, const Json& graph) : file_(file) {
    const auto input = required_field<std::string>(graph, "input", "the graph");
    const auto output = required_field<std::string>(graph, "output", "the graph");
    const auto ops = graph.find("ops");
    if (ops == graph.end() || !ops->is_array() || ops->empty() || ops->size() > kMaxOps) {
      reject_network("the graph has no list \"ops\" of 1 to {} operations", kMaxOps);
    }
    define(input, 3, 0);
    for (const Json& op : *ops) add(op);
    const NetworkOp& last = network_.ops.back();
    const NetworkTensor& result = tensor(last.output);
    if (last.kind != NetworkOpKind::kSigmoid || result.name != output) {
      reject_network("the graph does not end with the sigmoid that gives its output \"{}\"",
                     output);
    }
    if (graph.contains("embedding")) read_embedding(graph);
  }

  Network take() { return std::move(network_); }

 private:
  const NetworkTensor& tensor(int index) const { return network_.tensors[index]; }

  int define(const std::string& name, int channels, int level) {
    const auto index = static_cast<int>(network_.tensors.size());
    if (!index_of_.emplace(name, index).second) {
      reject_network("the tensor \"{}\" is computed twice", name);
    }
    network_.tensors.push_back({name, channels, level});
    return index;
  }

  /// The index of a tensor that an earlier operation computes.
  int known(const std::string& name) const {
    const auto found = index_of_.find(name);
    if (found == index_of_.end()) {
      reject_network("operation {} ({}) reads \"{}\", which nothing before it computes",
                     network_.ops.size(), where_, name);
    }
    return found->second;
  }

  int known_field(const Json& json, const char* name) const {
    return known(required_field<std::string>(json, name, where_));
  }

  void add(const Json& json) {
    where_ = fmt::format("operation {}", network_.ops.size());
    if (!json.is_object()) reject_network("{} is no object", where_);
    if (!network_.ops.empty() && network_.ops.back().kind == NetworkOpKind::kSigmoid) {
      reject_network("the graph goes on after its sigmoid");
    }
    const auto kind = required_field<std::string>(json, "op", where_);
    const auto name = required_field<std::string>(json, "out", where_);
    where_ = fmt::format("the operation {} that computes \"{}\"", kind, name);
    NetworkOp op;
    if (kind == "conv") {
      op = convolution(json, name);
    } else if (kind == "upsample") {
      op = upsampling(json, name);
    } else if (kind == "sigmoid") {
      op = sigmoid(json, name);
    } else {
      reject_network("{} is of a kind that is not known; known are conv, upsample and sigmoid",
                     where_);
    }
    network_.ops.push_back(std::move(op));
  }

  NetworkOp upsampling(const Json& json, const std::string& name) {
    NetworkOp op;
    op.kind = NetworkOpKind::kUpsample;
    op.input = known_field(json, "in");
    const NetworkTensor& in = tensor(op.input);
    const NetworkTensor& like = tensor(known_field(json, "like"));
    if (like.level != in.level - 1) {
      reject_network("{} has \"{}\" of level {} to be like, expected level {}", where_, like.name,
                     like.level, in.level - 1);
    }
    op.output = define(name, in.channels, in.level - 1);
    return op;
  }

  NetworkOp sigmoid(const Json& json, const std::string& name) {
    NetworkOp op;
    op.kind = NetworkOpKind::kSigmoid;
    op.input = known_field(json, "in");
    const NetworkTensor& in = tensor(op.input);
    if (in.channels > kMostOutputs || in.level != 0) {
      reject_network("{} gets {} channels of level {}, expected 1 or 2 of level 0", where_,
                     in.channels, in.level);
    }
    op.output = define(name, in.channels, 0);
    return op;
  }

  NetworkOp convolution(const Json& json, const std::string& name) {
    NetworkOp op;
    read_shape(json, op.shape);
    read_input(json, op);
    read_weights(json, op);
    const int level = tensor(op.input).level + op.shape.stride - 1;
    if (level > kMaxLevel) reject_network("{} goes below level {}", where_, kMaxLevel);
    read_added(json, op, level);
    op.output = define(name, op.shape.outputs, level);
    return op;
  }

  void read_shape(const Json& json, ConvolutionShape& shape) const {
    shape.depthwise = json.contains("depthwise") && required_field<bool>(json, "depthwise", where_);
    shape.kernel = bounded_field(json, "kernel", where_, 1, kMaxKernel);
    shape.dilation = bounded_field(json, "dilation", where_, 1, kMaxDilation);
    shape.relu = required_field<bool>(json, "relu", where_);
    if (json.contains("stride")) shape.stride = bounded_field(json, "stride", where_, 1, 2);
    if (shape.kernel % 2 == 0) {
      reject_network("{} has {}x{} taps, expected 1x1, 3x3 or 5x5", where_, shape.kernel,
                     shape.kernel);
    }
    if (shape.stride > 1 && shape.dilation > 1) {
      reject_network("{} has both a stride and a dilation", where_);
    }
    if (json.contains("before")) {
      const int middle = shape.kernel / 2;
      const int least = shape.stride > 1 && middle > 0 ? middle - 1 : middle;
      shape.shift = middle - bounded_field(json, "before", where_, least, middle);
    }
    if (json.contains("most")) {
      if (!shape.relu) reject_network("{} has \"most\" without \"relu\"", where_);
      shape.most = static_cast<float>(bounded_field(json, "most", where_, 1, kMostLimit));
    }
  }

  void read_input(const Json& json, NetworkOp& op) {
    const auto inputs = json.find("in");
    if (inputs == json.end() || !inputs->is_array() || inputs->size() != 1 ||
        !inputs->front().is_string()) {
      reject_network("{} has no list \"in\" of the name of one tensor", where_);
    }
    op.input = known(inputs->front().get<std::string>());
  }

  void read_weights(const Json& json, NetworkOp& op) {
    const bool depthwise = op.shape.depthwise;
    const int channels = tensor(op.input).channels;
    const auto weight = required_field<std::string>(json, "weight", where_);
    const auto bias = required_field<std::string>(json, "bias", where_);
    StoredTensor weights = file_.read(weight);
    StoredTensor biases = file_.read(bias);
    const auto side = static_cast<std::size_t>(op.shape.kernel);
    op.shape.inputs = channels;
    const auto inner = static_cast<std::size_t>(op.shape.inner());
    const std::size_t outputs = weights.shape.empty() ? 0 : weights.shape[0];
    const bool outputs_fit = depthwise ? outputs == static_cast<std::size_t>(channels)
                                       : outputs >= 1 && outputs <= kMaxChannels;
    if (!outputs_fit || weights.shape != std::vector<std::size_t>{outputs, inner, side, side}) {
      reject_network("\"{}\" has the shape {}, but {} wants [{}, {}, {}, {}]", weight,
                     shape_text(weights.shape), where_,
                     depthwise ? fmt::format("{}", channels) : "outputs", inner, side, side);
    }
    if (biases.shape != std::vector<std::size_t>{outputs}) {
      reject_network("\"{}\" has the shape {}, but {} wants [{}]", bias, shape_text(biases.shape),
                     where_, outputs);
    }
    op.shape.outputs = static_cast<int>(outputs);
    op.weights = std::move(weights.values);
    op.bias = std::move(biases.values);
  }

  void read_added(const Json& json, NetworkOp& op, int level) {
    const auto added = json.find("add");
    if (added == json.end() || added->is_null()) return;
    op.added = known_field(json, "add");
    const NetworkTensor& other = tensor(op.added);
    if (other.level != level || other.channels != op.shape.outputs) {
      reject_network("{} adds \"{}\" of {} channels of level {}, expected {} of level {}", where_,
                     other.name, other.channels, other.level, op.shape.outputs, level);
    }
  }

  void read_embedding(const Json& graph) {
    const auto name = required_field<std::string>(graph, "embedding", "the graph");
    const auto found = index_of_.find(name);
    if (found == index_of_.end() || found->second == network_.input() ||
        found->second == network_.output()) {
      reject_network("its embedding \"{}\" is no tensor between its input and its output", name);
    }
    network_.embedding = found->second;
    if (tensor(network_.embedding).channels > kMostEmbeddingChannels) {
      reject_network("its embedding \"{}\" has {} channels, expected {} at most", name,
                     tensor(network_.embedding).channels, kMostEmbeddingChannels);
    }
  }

  const Safetensors& file_;
  Network network_;
  std::map<std::string, int> index_of_;
  std::string where_;  ///< What messages call the operation that is being added.
};

constexpr std::string_view kNetworkFormat = "diacut-network";
// Version 2 has strides, limits, 5x5 taps and asymmetric padding, which a program that knows
// version 1 alone would pass over in silence.
constexpr std::array<std::string_view, 2> kVersions = {"1", "2"};

/// The text of a key of the metadata; empty where there is none.
std::string metadata_text(const Json& metadata, const char* name) {
  const auto found = metadata.find(name);
  return found != metadata.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// The texts of the key "outputs" for one channel, which may be left out, and for two.
constexpr std::array<std::string_view, 2> kOutputs = {"boundary", "boundary,inside"};

/// Throws unless the metadata name as many outputs as the network has.
void check_outputs(const Json& metadata, const Network& network) {
  const std::string text = metadata_text(metadata, "outputs");
  const std::string named(metadata.contains("outputs") ? std::string_view(text) : kOutputs[0]);
  const auto found = std::find(kOutputs.begin(), kOutputs.end(), named);
  if (found == kOutputs.end()) {
    reject_network("its metadata name the outputs \"{}\", expected \"{}\"", named,
                   fmt::join(kOutputs, "\" or \""));
  }
  const auto channels = found - kOutputs.begin() + 1;
  if (network.outputs() != channels) {
    reject_network("its metadata name {} (\"outputs\": \"{}\"), but its sigmoid gives {} channel{}",
                   channels == 1 ? "one output" : "two outputs", named, network.outputs(),
                   network.outputs() == 1 ? "" : "s");
  }
}

Network parse(std::span<const std::byte> bytes) {
  const Safetensors file(bytes);
  const std::string format = metadata_text(file.metadata(), "format");
  if (format != kNetworkFormat) {
    reject_network(
        "it holds no network of diacut: its metadata give the format \"{}\", expected \"{}\"",
        format, kNetworkFormat);
  }
  const std::string version = metadata_text(file.metadata(), "version");
  if (std::find(kVersions.begin(), kVersions.end(), version) == kVersions.end()) {
    reject_network(
        "it is of version \"{}\", this program reads the versions \"{}\": take a file "
        "made for this version of diacut",
        version, fmt::join(kVersions, "\" and \""));
  }
  const Json graph = Json::parse(metadata_text(file.metadata(), "graph"), nullptr, false);
  if (!graph.is_object()) reject_network("its metadata hold no \"graph\" that is a JSON object");
  Network network = Builder(file, graph).take();
  check_outputs(file.metadata(), network);
  return network;
}

std::vector<std::byte> read_bytes(const std::string& path) {
  std::ifstream stream(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = stream ? static_cast<std::streamoff>(stream.tellg()) : -1;
  if (size < 0 || size > static_cast<std::streamoff>(kMaxNetworkFileBytes)) {
    // A folder can be opened too, and reports the largest possible size.
    throw ConfigError(
        fmt::format("boundary.weights: the network '{}' cannot be read: it is missing, no plain "
                    "file, or larger than {} MiB; name a .safetensors file, or leave it empty for "
                    "the network that is built in",
                    path, kMaxNetworkFileBytes >> 20));
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  stream.seekg(0);
  stream.read(reinterpret_cast<char*>(bytes.data()), size);
  if (!stream) throw InputError(fmt::format("the network '{}' cannot be read", path));
  return bytes;
}

/// A network that is built into the program, parsed when it is first asked for.
std::shared_ptr<const Network> built_in(const EmbeddedBytes& file) {
  static std::mutex mutex;
  static std::map<std::string_view, std::shared_ptr<const Network>> parsed;
  const std::lock_guard<std::mutex> lock(mutex);
  std::shared_ptr<const Network>& network = parsed[file.name];
  if (!network) {
    network = std::make_shared<Network>(parse_network(file.bytes, std::string(file.name)));
  }
  return network;
}

/// The network of a file. A run asks for it again with every image, so it is parsed anew only when
/// nobody holds it any more or the bytes of the file changed.
std::shared_ptr<const Network> of_file(const std::string& path) {
  struct Parsed {
    std::vector<std::byte> bytes;
    std::weak_ptr<const Network> network;
  };
  static std::mutex mutex;
  static std::map<std::string, Parsed> files;
  std::vector<std::byte> bytes = read_bytes(path);
  const std::lock_guard<std::mutex> lock(mutex);
  std::erase_if(files, [](const auto& file) { return file.second.network.expired(); });
  if (const auto found = files.find(path); found != files.end() && found->second.bytes == bytes) {
    if (auto network = found->second.network.lock()) return network;
  }
  auto network = std::make_shared<const Network>(parse_network(bytes, path));
  files[path] = {std::move(bytes), network};
  return network;
}

}  // namespace

Network parse_network(std::span<const std::byte> file, const std::string& name) {
  try {
    return parse(file);
  } catch (const InputError& error) {
    throw InputError(
        fmt::format("the network '{}' cannot be used: {}; name another file with --weights, or "
                    "leave it out for the network that is built in",
                    name, error.what()));
  }
}

std::shared_ptr<const Network> load_network(const std::string& name_or_path) {
  const std::string name = name_or_path.empty() ? "default" : name_or_path;
  for (const EmbeddedBytes& file : embedded_networks()) {
    if (file.name == name) return built_in(file);
  }
  if (name_or_path.empty()) {
    throw ConfigError(
        "boundary.weights: no network is built into this program; name a .safetensors file with "
        "--weights, or choose --boundary gradient");
  }
  return of_file(name_or_path);
}

Networks load_networks(const std::string& names_or_paths) {
  if (names_or_paths.empty()) return {load_network("")};
  Networks networks;
  const std::string ended = names_or_paths + ',';  // Which shows an empty last name.
  for (const std::string_view one : split_text(ended, ',')) {
    if (one.empty()) {
      throw ConfigError(
          fmt::format("boundary.weights: '{}' names nothing beside a comma; separate names or "
                      "files by one comma",
                      names_or_paths));
    }
    networks.push_back(load_network(std::string(one)));
    if (networks.back()->outputs() != networks.front()->outputs()) {
      throw ConfigError(fmt::format(
          "boundary.weights: of the networks '{}' some give a boundary map alone and others the "
          "inside of objects too: only networks of the same outputs are averaged",
          names_or_paths));
    }
  }
  return networks;
}

}  // namespace diacut
