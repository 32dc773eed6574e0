#pragma once

#include <optional>
#include <string>

#include "command_line.hpp"
#include "diacut/objects.hpp"

namespace diacut::app {

/// The options of a command line that ask for objects.
class ObjectLine {
 public:
  void declare(CommandLine& line);

  /// What objects must meet, or nothing if they are not asked for. Throws ConfigError.
  std::optional<ObjectConditions> conditions() const;

 private:
  bool objects_ = false;
  std::optional<std::string> area_;
  std::optional<std::string> solidity_;
  std::optional<std::string> contrast_;
  std::optional<std::string> brighter_;
  std::optional<std::string> darker_;
  std::optional<std::string> score_;
};

}  // namespace diacut::app
