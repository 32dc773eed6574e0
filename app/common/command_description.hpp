#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace diacut::app {

struct OptionDescription {
  std::vector<std::string> names;  ///< As they are typed: "-o", "--output".
  std::string value;               ///< "FILE|DIR|-"; empty for a flag.
  std::string meaning;
  std::string group;
};

/// A program or one of its subcommands, as its manual page needs it.
struct CommandDescription {
  std::string name;  ///< "segment" or "recut".
  std::string summary;
  std::vector<OptionDescription> options;  ///< In the order of the help.
  std::vector<CommandDescription> subcommands;
};

/// What `app` and its subcommands take.
CommandDescription describe(const CLI::App& app);

/// The text for the command line `PROGRAM --generate FORMAT`, by which the build makes manual pages
/// ("man") and docs/reference.md ("markdown"); nothing for any other command line. Throws
/// ConfigError for another format.
std::optional<std::string> generated(int argc, const char* const* argv,
                                     const std::function<CommandDescription()>& command);

/// The options as a part of a manual page, or of docs/reference.md.
std::string option_page(const CommandDescription& command, bool man);

}  // namespace diacut::app
