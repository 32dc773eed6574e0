#pragma once

#include <optional>
#include <string>

#include "console.hpp"

namespace diacut::app {

/// The options that every program has. A program's own options derive from this struct.
struct CommonOptions {
  /// What to print instead of doing anything: the help or the version, if they were asked for.
  std::optional<std::string> answer;
  Verbosity verbosity = Verbosity::kNormal;
};

}  // namespace diacut::app
