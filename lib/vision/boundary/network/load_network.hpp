#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "boundary/network/network.hpp"

namespace diacut {

/// The network in the bytes of a safetensors file, in fp16 or fp32, whose metadata give "format":
/// "diacut-network", "version": "1" or "2", the "graph", and for a network of
/// two channels "outputs": "boundary,inside". Everything is checked. `name` is what messages call
/// the file. Throws InputError.
Network parse_network(std::span<const std::byte> file, const std::string& name);

/// The network that is built in under this name, or else the one in the file of this path; an empty
/// text means the built-in network "default". A network is parsed once, for as long as anybody
/// holds it and its file keeps its bytes. Throws ConfigError when there is no such network, and
/// InputError as parse_network() does.
std::shared_ptr<const Network> load_network(const std::string& name_or_path);

using Networks = std::vector<std::shared_ptr<const Network>>;

/// The networks of a list of names or paths, separated by commas; an empty text means the built-in
/// network "default" alone. Throws as load_network() does, and ConfigError where nothing stands
/// between two commas, or where the networks have different outputs.
Networks load_networks(const std::string& names_or_paths);

}  // namespace diacut
