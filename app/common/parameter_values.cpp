#include "parameter_values.hpp"

#include "core/embedded_bytes.hpp"
#include "diacut/parameters.hpp"

namespace diacut::app {

namespace {

/// The names in `one of "auto", "type"`; nothing for another description.
std::vector<std::string> quoted_names(const std::string& allowed) {
  std::vector<std::string> names;
  if (allowed.rfind("one of", 0) != 0) return names;
  std::size_t begin = allowed.find('"');
  while (begin != std::string::npos) {
    const std::size_t end = allowed.find('"', begin + 1);
    names.push_back(allowed.substr(begin + 1, end - begin - 1));
    begin = allowed.find('"', end + 1);
  }
  return names;
}

}  // namespace

std::vector<std::string> parameter_choices(const std::string& key) {
  for (const ParameterInfo& info : describe_parameters()) {
    if (info.key == key) return quoted_names(info.allowed);
  }
  return {};
}

std::vector<std::string> assignments_offered() {
  std::vector<std::string> words;
  for (const ParameterInfo& info : describe_parameters()) {
    words.push_back(info.key + "=");
    for (const std::string& name : quoted_names(info.allowed)) {
      words.push_back(info.key + "=" + name);
    }
  }
  return words;
}

std::vector<std::string> network_names() {
  std::vector<std::string> names;
  for (const EmbeddedBytes& network : embedded_networks()) names.emplace_back(network.name);
  return names;
}

}  // namespace diacut::app
