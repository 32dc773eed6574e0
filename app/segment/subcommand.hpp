#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "command_description.hpp"
#include "command_line.hpp"

namespace diacut::app {

/// Whether a command line of segment begins with the subcommand `name`.
bool is_subcommand(int argc, const char* const* argv, std::string_view name);

/// A word for what a subcommand works on, as "graph", "graphs", and what it does with it, "solved".
struct InputWords {
  std::string one;
  std::string many;
  std::string done;
};

/// The input of a subcommand that works on one at a time. Throws ConfigError where there is none,
/// or more than one.
std::string only_input(const std::string& program, const std::vector<std::string>& inputs,
                       const InputWords& words);

/// The options of the subcommand `name`, for its manual page and completions.
CommandDescription describe_subcommand(const char* name, const CommandLine& line,
                                       const ValueTable& values);

}  // namespace diacut::app
