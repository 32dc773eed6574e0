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

#include "boundary/network/json_fields.hpp"
#include "boundary/network/network_graph.hpp"
#include "boundary/network/safetensors.hpp"
#include "core/embedded_bytes.hpp"

namespace diacut {

namespace {

using Json = nlohmann::json;

constexpr std::string_view kFormat = "diacut-network";
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
    reject_network(fmt::format("its metadata name the outputs \"{}\", expected \"{}\"", named,
                               fmt::join(kOutputs, "\" or \"")));
  }
  const auto channels = found - kOutputs.begin() + 1;
  if (network.outputs() != channels) {
    reject_network(fmt::format(
        "its metadata name {} (\"outputs\": \"{}\"), but its sigmoid gives {} channel{}",
        channels == 1 ? "one output" : "two outputs", named, network.outputs(),
        network.outputs() == 1 ? "" : "s"));
  }
}

Network parse(std::span<const std::byte> bytes) {
  const Safetensors file(bytes);
  const std::string format = metadata_text(file.metadata(), "format");
  if (format != kFormat) {
    reject_network(
        fmt::format("it holds no network of diacut: its metadata give the format \"{}\", expected "
                    "\"{}\"",
                    format, kFormat));
  }
  const std::string version = metadata_text(file.metadata(), "version");
  if (std::find(kVersions.begin(), kVersions.end(), version) == kVersions.end()) {
    reject_network(
        fmt::format("it is of version \"{}\", this program reads the versions \"{}\": take a file "
                    "made for this version of diacut",
                    version, fmt::join(kVersions, "\" and \"")));
  }
  const Json graph = Json::parse(metadata_text(file.metadata(), "graph"), nullptr, false);
  if (!graph.is_object()) reject_network("its metadata hold no \"graph\" that is a JSON object");
  Network network = network_of_graph(file, graph);
  check_outputs(file.metadata(), network);
  return network;
}

std::vector<std::byte> read_bytes(const std::string& path) {
  std::ifstream stream(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = stream ? static_cast<std::streamoff>(stream.tellg()) : -1;
  if (size < 0 || size > static_cast<std::streamoff>(kMaxNetworkFileBytes)) {
    // A folder can be opened too, and reports the largest possible size.
    throw ConfigError(fmt::format(
        "cue.weights: the network '{}' cannot be read: it is missing, no plain file, or "
        "larger than {} MiB; name a .safetensors file, or leave it empty for the "
        "network that is built in",
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
    if (networks.back()->outputs() != networks.front()->outputs()) {
      throw ConfigError(
          fmt::format("cue.weights: of the networks '{}' some give a boundary map alone and others "
                      "the inside of objects too: only networks of the same outputs are averaged",
                      names_or_paths));
    }
    begin = end + 1;
  }
  return networks;
}

}  // namespace diacut
