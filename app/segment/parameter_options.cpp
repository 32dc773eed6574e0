#include "parameter_options.hpp"

#include <fmt/format.h>

#include <cstddef>

#include "diacut/errors.hpp"

namespace diacut::app {

std::string described(const ParameterOption& option) {
  std::string text = option.meaning;
  for (const ParameterInfo& info : describe_parameters()) {
    if (info.key == option.key && info.allowed.rfind("one of", 0) == 0) text += ", " + info.allowed;
  }
  for (const auto& [key, value] : list_parameters(Parameters{})) {
    if (key == option.key && !value.empty()) text += fmt::format(" (default {})", value);
  }
  return text;
}

void set_from_option(Parameters& parameters, const char* flag, const std::string& key,
                     const std::string& value) {
  try {
    set_parameter(parameters, key, value);
  } catch (const ConfigError& error) {
    throw ConfigError(fmt::format("{}: {}", flag, error.what()));
  }
}

void set_from_assignment(Parameters& parameters, const std::string& assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw ConfigError(fmt::format(
        "--set: '{}' is not of the form KEY=VALUE, as in --set eigen.vectors=9 (--print-config "
        "lists the keys)",
        assignment));
  }
  set_from_option(parameters, "--set", assignment.substr(0, equals), assignment.substr(equals + 1));
}

}  // namespace diacut::app
