#include "boundary/network/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <initializer_list>
#include <limits>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "core/embedded_bytes.hpp"
#include "diacut/errors.hpp"

namespace diacut {

namespace {

using Json = nlohmann::json;

constexpr std::string_view kFormat = "diacut-network";
constexpr std::string_view kVersion = "1";
/// No network of this kind is near any of these; a file that claims to be is damaged or hostile.
constexpr std::size_t kMaxFileBytes = std::size_t{1} << 28;
constexpr std::size_t kMaxHeaderBytes = std::size_t{1} << 24;
constexpr std::size_t kMaxOps = 1024;
constexpr int kMaxChannels = 4096;
constexpr int kMaxLevel = 10;
constexpr int kMaxDilation = 64;

/// IEEE 754 binary16: moved to where binary32 has its exponent and mantissa, and scaled for the
/// difference of their biases, which makes subnormal numbers right too.
float from_half(std::uint16_t bits) {
  if ((bits & 0x7c00) == 0x7c00) return std::numeric_limits<float>::quiet_NaN();
  const auto magnitude = std::bit_cast<float>(static_cast<std::uint32_t>(bits & 0x7fff) << 13);
  return ((bits & 0x8000) != 0 ? -0x1p112f : 0x1p112f) * magnitude;
}

/// What is wrong with the file, without its name.
[[noreturn]] void fail(const std::string& what) { throw InputError(what); }

/// Key `name` of an object, which must be there and of the type that T stands for.
template <class T>
T member(const Json& object, const char* name, const std::string& where) {
  const auto found = object.find(name);
  if (found == object.end()) fail(fmt::format("{} has no \"{}\"", where, name));
  const bool fits = [&] {
    if constexpr (std::is_same_v<T, bool>) {
      return found->is_boolean();
    } else if constexpr (std::is_same_v<T, std::string>) {
      return found->is_string();
    } else {
      return found->is_number_integer();
    }
  }();
  if (!fits) fail(fmt::format("\"{}\" of {} is of the wrong type", name, where));
  return found->template get<T>();
}

int bounded(const Json& object, const char* name, const std::string& where, int least, int most) {
  const auto value = member<std::int64_t>(object, name, where);
  if (value < least || value > most) {
    fail(fmt::format("\"{}\" of {} is {}, expected {} to {}", name, where, value, least, most));
  }
  return static_cast<int>(value);
}

/// A tensor of the file.
struct Weights {
  std::vector<std::size_t> shape;
  std::vector<float> values;
};

std::string shape_text(const std::vector<std::size_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

/// A safetensors file: its tensors and its metadata.
class Safetensors {
 public:
  explicit Safetensors(std::span<const std::byte> file) {
    constexpr std::size_t kLength = 8;
    std::uint64_t length = 0;
    if (file.size() < kLength) {
      fail(fmt::format("it has {} bytes, too few for a safetensors file", file.size()));
    }
    for (std::size_t i = 0; i < kLength; ++i) {
      length |= std::to_integer<std::uint64_t>(file[i]) << (8 * i);
    }
    if (length > kMaxHeaderBytes || length > file.size() - kLength) {
      fail(
          fmt::format("its header is said to have {} bytes, but {} are left: it is truncated, or "
                      "no safetensors file",
                      length, file.size() - kLength));
    }
    const auto* text = reinterpret_cast<const char*>(file.data()) + kLength;
    header_ = Json::parse(text, text + length, nullptr, false);
    if (!header_.is_object()) fail("its header is not a JSON object: it is no safetensors file");
    data_ = file.subspan(kLength + length);
    check_layout();
  }

  const Json& metadata() const {
    static const Json none = Json::object();
    const auto found = header_.find("__metadata__");
    return found != header_.end() && found->is_object() ? *found : none;
  }

  Weights read(const std::string& name) const {
    const auto found = header_.find(name);
    if (found == header_.end() || name == "__metadata__") {
      fail(fmt::format("the tensor \"{}\" is missing", name));
    }
    const Extent extent = extent_of(name, *found);
    Weights weights;
    weights.shape = extent.shape;
    weights.values.reserve((extent.end - extent.begin) / extent.element);
    for (std::size_t at = extent.begin; at < extent.end; at += extent.element) {
      std::uint32_t bits = 0;
      for (std::size_t i = 0; i < extent.element; ++i) {
        bits |= std::to_integer<std::uint32_t>(data_[at + i]) << (8 * i);
      }
      weights.values.push_back(extent.element == 4 ? std::bit_cast<float>(bits)
                                                   : from_half(static_cast<std::uint16_t>(bits)));
    }
    if (!std::all_of(weights.values.begin(), weights.values.end(),
                     [](float value) { return std::isfinite(value); })) {
      fail(fmt::format("the tensor \"{}\" holds values that are not finite", name));
    }
    return weights;
  }

 private:
  struct Extent {
    std::string name;
    std::vector<std::size_t> shape;
    std::size_t element = 0;  ///< Bytes.
    std::size_t begin = 0;    ///< In data_, bytes.
    std::size_t end = 0;
  };

  static std::vector<std::size_t> numbers(const Json& object, const char* name,
                                          const std::string& where) {
    const auto found = object.find(name);
    if (found == object.end() || !found->is_array()) {
      fail(fmt::format("{} has no list \"{}\"", where, name));
    }
    std::vector<std::size_t> values;
    for (const Json& value : *found) {
      if (!value.is_number_unsigned()) {
        fail(fmt::format("\"{}\" of {} holds something else than sizes", name, where));
      }
      values.push_back(value.get<std::size_t>());
    }
    return values;
  }

  Extent extent_of(const std::string& name, const Json& entry) const {
    const std::string where = fmt::format("the tensor \"{}\"", name);
    if (!entry.is_object()) fail(fmt::format("{} is described by no object", where));
    const auto type = member<std::string>(entry, "dtype", where);
    if (type != "F16" && type != "F32") {
      fail(fmt::format("{} has the type {}, expected F16 or F32", where, type));
    }
    Extent extent{name, numbers(entry, "shape", where), type == "F32" ? 4u : 2u, 0, 0};
    const std::vector<std::size_t> offsets = numbers(entry, "data_offsets", where);
    if (offsets.size() != 2 || offsets[0] > offsets[1]) {
      fail(fmt::format("\"data_offsets\" of {} are no begin and end", where));
    }
    if (offsets[1] > data_.size()) {
      fail(fmt::format("{} ends at byte {} of the data, of which there are {}: it is truncated",
                       where, offsets[1], data_.size()));
    }
    std::size_t bytes = extent.element;
    for (const std::size_t size : extent.shape) {
      if (size > kMaxFileBytes || bytes > kMaxFileBytes)
        fail(fmt::format("{} is too large", where));
      bytes *= size;
    }
    if (bytes != offsets[1] - offsets[0]) {
      fail(fmt::format("{} of shape {} takes {} bytes, but its offsets span {}", where,
                       shape_text(extent.shape), bytes, offsets[1] - offsets[0]));
    }
    extent.begin = offsets[0];
    extent.end = offsets[1];
    return extent;
  }

  /// The format wants every byte of the data to belong to one tensor.
  void check_layout() const {
    std::vector<Extent> extents;
    for (const auto& [name, entry] : header_.items()) {
      if (name != "__metadata__") extents.push_back(extent_of(name, entry));
    }
    std::stable_sort(extents.begin(), extents.end(),
                     [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
    std::size_t at = 0;
    for (const Extent& extent : extents) {
      if (extent.begin < at) {
        fail(fmt::format("the tensor \"{}\" overlaps another one", extent.name));
      }
      if (extent.begin > at) {
        fail(fmt::format("bytes {} to {} of the data belong to no tensor", at, extent.begin));
      }
      at = extent.end;
    }
    if (at != data_.size()) {
      fail(fmt::format("the last {} bytes belong to no tensor", data_.size() - at));
    }
  }

  Json header_;
  std::span<const std::byte> data_;
};

/// Builds a Network from its graph, op by op, checking each.
class Builder {
 public:
  Builder(const Safetensors& file, const Json& graph) : file_(file) {
    const auto input = member<std::string>(graph, "input", "the graph");
    const auto output = member<std::string>(graph, "output", "the graph");
    const auto ops = graph.find("ops");
    if (ops == graph.end() || !ops->is_array() || ops->empty() || ops->size() > kMaxOps) {
      fail(fmt::format("the graph has no list \"ops\" of 1 to {} operations", kMaxOps));
    }
    define(input, 3, 0);
    for (const Json& op : *ops) add(op);
    const NetworkOp& last = network_.ops.back();
    const NetworkTensor& result = network_.tensors[static_cast<std::size_t>(last.output)];
    if (last.kind != NetworkOpKind::kSigmoid || result.name != output) {
      fail(fmt::format("the graph does not end with the sigmoid that gives its output \"{}\"",
                       output));
    }
  }

  Network take() { return std::move(network_); }

 private:
  const NetworkTensor& tensor(int index) const {
    return network_.tensors[static_cast<std::size_t>(index)];
  }

  int define(const std::string& name, int channels, int level) {
    const auto index = static_cast<int>(network_.tensors.size());
    if (!index_of_.emplace(name, index).second) {
      fail(fmt::format("the tensor \"{}\" is computed twice", name));
    }
    network_.tensors.push_back({name, channels, level});
    return index;
  }

  int known(const std::string& name) const {
    const auto found = index_of_.find(name);
    if (found == index_of_.end()) {
      fail(fmt::format("operation {} ({}) reads \"{}\", which nothing before it computes",
                       network_.ops.size(), where_, name));
    }
    return found->second;
  }

  void add(const Json& json) {
    where_ = fmt::format("operation {}", network_.ops.size());
    if (!json.is_object()) fail(fmt::format("{} is no object", where_));
    if (!network_.ops.empty() && network_.ops.back().kind == NetworkOpKind::kSigmoid) {
      fail("the graph goes on after its sigmoid");
    }
    const auto kind = member<std::string>(json, "op", where_);
    const auto name = member<std::string>(json, "out", where_);
    where_ = fmt::format("the operation {} that computes \"{}\"", kind, name);
    NetworkOp op;
    if (kind == "conv") {
      add_convolution(json, name, op);
    } else if (kind == "maxpool") {
      op.kind = NetworkOpKind::kMaxPool;
      op.inputs = {known(member<std::string>(json, "in", where_))};
      const NetworkTensor& in = tensor(op.inputs[0]);
      if (in.level == kMaxLevel) fail(fmt::format("{} goes below level {}", where_, kMaxLevel));
      op.output = define(name, in.channels, in.level + 1);
    } else if (kind == "upsample") {
      op.kind = NetworkOpKind::kUpsample;
      op.inputs = {known(member<std::string>(json, "in", where_))};
      const NetworkTensor& in = tensor(op.inputs[0]);
      const NetworkTensor& like = tensor(known(member<std::string>(json, "like", where_)));
      if (like.level != in.level - 1) {
        fail(fmt::format("{} has \"{}\" of level {} to be like, expected level {}", where_,
                         like.name, like.level, in.level - 1));
      }
      op.output = define(name, in.channels, in.level - 1);
    } else if (kind == "sigmoid") {
      op.kind = NetworkOpKind::kSigmoid;
      op.inputs = {known(member<std::string>(json, "in", where_))};
      const NetworkTensor& in = tensor(op.inputs[0]);
      if (in.channels != 1 || in.level != 0) {
        fail(fmt::format("{} gets {} channels of level {}, expected one of level 0", where_,
                         in.channels, in.level));
      }
      op.output = define(name, 1, 0);
    } else {
      fail(
          fmt::format("{} is of a kind that is not known; known are conv, maxpool, upsample and "
                      "sigmoid",
                      where_));
    }
    network_.ops.push_back(std::move(op));
  }

  void add_convolution(const Json& json, const std::string& name, NetworkOp& op) {
    const bool depthwise = json.contains("depthwise") && member<bool>(json, "depthwise", where_);
    op.kind = depthwise ? NetworkOpKind::kDepthwise : NetworkOpKind::kConvolution;
    op.kernel = bounded(json, "kernel", where_, 1, 3);
    op.dilation = bounded(json, "dilation", where_, 1, kMaxDilation);
    op.relu = member<bool>(json, "relu", where_);
    if (op.kernel == 2) fail(fmt::format("{} has 2x2 taps, expected 1x1 or 3x3", where_));
    const auto inputs = json.find("in");
    const std::size_t most = depthwise ? 1 : kMaxNetworkInputs;
    if (inputs == json.end() || !inputs->is_array() || inputs->empty() || inputs->size() > most) {
      fail(fmt::format("{} has no list \"in\" of 1 to {} tensors", where_, most));
    }
    int channels = 0;
    for (const Json& input : *inputs) {
      if (!input.is_string()) fail(fmt::format("{} reads something that is no name", where_));
      op.inputs.push_back(known(input.get<std::string>()));
      channels += tensor(op.inputs.back()).channels;
      if (tensor(op.inputs.back()).level != tensor(op.inputs.front()).level) {
        fail(fmt::format("{} reads tensors of different levels", where_));
      }
    }
    const auto weight = member<std::string>(json, "weight", where_);
    const auto bias = member<std::string>(json, "bias", where_);
    Weights weights = file_.read(weight);
    Weights biases = file_.read(bias);
    const auto side = static_cast<std::size_t>(op.kernel);
    const auto inner = static_cast<std::size_t>(depthwise ? 1 : channels);
    const std::size_t outputs = weights.shape.empty() ? 0 : weights.shape[0];
    const bool outputs_fit = depthwise ? outputs == static_cast<std::size_t>(channels)
                                       : outputs >= 1 && outputs <= kMaxChannels;
    if (!outputs_fit || weights.shape != std::vector<std::size_t>{outputs, inner, side, side}) {
      fail(fmt::format("\"{}\" has the shape {}, but {} wants [{}, {}, {}, {}]", weight,
                       shape_text(weights.shape), where_,
                       depthwise ? fmt::format("{}", channels) : "outputs", inner, side, side));
    }
    if (biases.shape != std::vector<std::size_t>{outputs}) {
      fail(fmt::format("\"{}\" has the shape {}, but {} wants [{}]", bias, shape_text(biases.shape),
                       where_, outputs));
    }
    op.weights = std::move(weights.values);
    op.bias = std::move(biases.values);
    const int level = tensor(op.inputs.front()).level;
    if (const auto added = json.find("add"); added != json.end() && !added->is_null()) {
      op.added = known(member<std::string>(json, "add", where_));
      const NetworkTensor& other = tensor(op.added);
      if (other.level != level || static_cast<std::size_t>(other.channels) != outputs) {
        fail(fmt::format("{} adds \"{}\" of {} channels of level {}, expected {} of level {}",
                         where_, other.name, other.channels, other.level, outputs, level));
      }
    }
    op.output = define(name, static_cast<int>(outputs), level);
  }

  const Safetensors& file_;
  Network network_;
  std::map<std::string, int> index_of_;
  std::string where_;
};

std::string metadata_text(const Json& metadata, const char* name) {
  const auto found = metadata.find(name);
  return found != metadata.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Network parse(std::span<const std::byte> bytes) {
  const Safetensors file(bytes);
  const std::string format = metadata_text(file.metadata(), "format");
  if (format != kFormat) {
    fail(
        fmt::format("it holds no network of diacut: its metadata give the format \"{}\", expected "
                    "\"{}\"",
                    format, kFormat));
  }
  const std::string version = metadata_text(file.metadata(), "version");
  if (version != kVersion) {
    fail(
        fmt::format("it is of version \"{}\", this program reads version \"{}\": take a file made "
                    "for this version of diacut",
                    version, kVersion));
  }
  const Json graph = Json::parse(metadata_text(file.metadata(), "graph"), nullptr, false);
  if (!graph.is_object()) fail("its metadata hold no \"graph\" that is a JSON object");
  return Builder(file, graph).take();
}

std::vector<std::byte> read_bytes(const std::string& path) {
  std::ifstream stream(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = stream ? static_cast<std::streamoff>(stream.tellg()) : -1;
  if (size < 0 || size > static_cast<std::streamoff>(kMaxFileBytes)) {
    // A folder opens, and claims the largest size there is.
    throw ConfigError(fmt::format(
        "cue.weights: the network '{}' cannot be read: it is missing, no plain file, or "
        "larger than {} MiB; name a .safetensors file, or leave it empty for the "
        "network that is built in",
        path, kMaxFileBytes >> 20));
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  stream.seekg(0);
  stream.read(reinterpret_cast<char*>(bytes.data()), size);
  if (!stream) throw InputError(fmt::format("the network '{}' cannot be read", path));
  return bytes;
}

/// Parsed once: it never changes.
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

/// Parsed once for as long as anyone has it and the file stays what it is: a run asks for it again
/// with every image.
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
    throw InputError(fmt::format(
        "the network '{}' cannot be used: {}; name another file with --weights, or leave it out "
        "for the network that is built in",
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
        "cue.weights: no network is built into this program; name a .safetensors file with "
        "--weights, or choose --cue gradient");
  }
  return of_file(name_or_path);
}

Networks load_networks(const std::string& names_or_paths) {
  if (names_or_paths.empty()) return {load_network("")};
  Networks networks;
  std::size_t begin = 0;
  while (begin <= names_or_paths.size()) {
    const std::size_t end = std::min(names_or_paths.find(',', begin), names_or_paths.size());
    const std::string one = names_or_paths.substr(begin, end - begin);
    if (one.empty()) {
      throw ConfigError(fmt::format(
          "cue.weights: '{}' names nothing beside a comma; separate names or files by one comma",
          names_or_paths));
    }
    networks.push_back(load_network(one));
    begin = end + 1;
  }
  return networks;
}

int network_side(int side, int level) {
  for (int i = 0; i < level; ++i) side = (side + 1) / 2;
  return side;
}

int Network::levels() const {
  int deepest = 0;
  for (const NetworkTensor& tensor : tensors) deepest = std::max(deepest, tensor.level);
  return deepest;
}

int Network::margin(int level) const {
  int most = 0;
  for (const NetworkOp& op : ops) {
    if (tensors[static_cast<std::size_t>(op.output)].level != level) continue;
    most = std::max(most, op.dilation * (op.kernel / 2));
  }
  return most;
}

int Network::reach() const {
  // Pixel i of level l covers the pixels i * 2^l to (i + 1) * 2^l - 1 of the input. A tensor's
  // reach is how far its pixel sees beyond what it covers.
  std::vector<int> reaches(tensors.size(), 0);
  for (const NetworkOp& op : ops) {
    int& reach = reaches[static_cast<std::size_t>(op.output)];
    for (const int input : op.inputs) {
      reach = std::max(reach, reaches[static_cast<std::size_t>(input)]);
    }
    const int level = tensors[static_cast<std::size_t>(op.inputs.front())].level;
    reach += op.dilation * (op.kernel / 2) << level;
    if (op.added >= 0) reach = std::max(reach, reaches[static_cast<std::size_t>(op.added)]);
    // A pixel is made of the coarse one that it lies in and that one's neighbour.
    if (op.kind == NetworkOpKind::kUpsample) reach += 1 << level;
  }
  return reaches.back();
}

double Network::operations(int width, int height) const {
  double sum = 0;
  for (const NetworkOp& op : ops) {
    const int level = tensors[static_cast<std::size_t>(op.output)].level;
    sum += 2.0 * static_cast<double>(op.weights.size()) * network_side(width, level) *
           network_side(height, level);
  }
  return sum;
}

NetworkBuffers plan_network_buffers(const Network& network,
                                    const std::vector<std::size_t>& floats) {
  std::vector<std::size_t> last_use(network.tensors.size(), 0);
  for (std::size_t i = 0; i < network.ops.size(); ++i) {
    const NetworkOp& op = network.ops[i];
    last_use[static_cast<std::size_t>(op.output)] = i;
    for (const int input : op.inputs) last_use[static_cast<std::size_t>(input)] = i;
    if (op.added >= 0) last_use[static_cast<std::size_t>(op.added)] = i;
  }
  NetworkBuffers plan;
  plan.buffer_of.assign(network.tensors.size(), -1);
  std::vector<int> free;
  const auto place = [&](int tensor) {
    const std::size_t size = floats[static_cast<std::size_t>(tensor)];
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < free.size(); ++i) {
      if (!best) {
        best = i;
        continue;
      }
      const std::size_t here = plan.floats[static_cast<std::size_t>(free[i])];
      const std::size_t there = plan.floats[static_cast<std::size_t>(free[*best])];
      const bool better = there >= size ? here >= size && here < there : here > there;
      if (better) best = i;
    }
    int buffer = static_cast<int>(plan.floats.size());
    if (best) {
      buffer = free[*best];
      free.erase(free.begin() + static_cast<std::ptrdiff_t>(*best));
    } else {
      plan.floats.push_back(0);
    }
    std::size_t& capacity = plan.floats[static_cast<std::size_t>(buffer)];
    capacity = std::max(capacity, size);
    plan.buffer_of[static_cast<std::size_t>(tensor)] = buffer;
  };
  place(network.input());
  for (std::size_t i = 0; i < network.ops.size(); ++i) {
    const NetworkOp& op = network.ops[i];
    if (op.kind != NetworkOpKind::kSigmoid) place(op.output);
    for (std::size_t t = 0; t < network.tensors.size(); ++t) {
      if (plan.buffer_of[t] >= 0 && last_use[t] == i) free.push_back(plan.buffer_of[t]);
    }
  }
  return plan;
}

}  // namespace diacut
