#pragma once

#include <optional>
#include <string>

#include "console.hpp"

namespace diacut::app {

/// What the options that all programs have come to; a program's own options derive from it.
struct CommonOptions {
  /// Asked for help or the version: what is to be printed instead of anything else.
  std::optional<std::string> answer;
  Verbosity verbosity = Verbosity::kNormal;
};

}  // namespace diacut::app
