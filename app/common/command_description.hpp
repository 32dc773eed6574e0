#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace diacut::app {

/// What a shell may offer as the value of an option or as an input.
struct Values {
  std::vector<std::string> words = {};
  bool list = false;  ///< Several words, separated by commas.
  bool files = false;
  std::vector<std::string> extensions = {};  ///< Of the files, as ".png"; empty: any.
  bool folders = false;
  bool devices = false;  ///< Indices of OpenCL devices, which `segment --list-devices` prints.
};

/// Values by the long name of an option ("--output"), or by the name of an input ("IMAGE").
using ValueTable = std::map<std::string, Values>;

struct OptionDescription {
  std::vector<std::string> names;  ///< As they are typed: "-o", "--output".
  std::string value;               ///< "FILE|DIR|-"; empty for a flag.
  std::string meaning;
  std::string group;
  Values values;
};

/// A program or one of its subcommands, as its manual page and its shell completions need it.
struct CommandDescription {
  std::string name;  ///< "segment" or "recut".
  std::string summary;
  std::vector<OptionDescription> options;  ///< In the order of the help.
  Values inputs;                           ///< What may stand beside options.
  std::vector<CommandDescription> subcommands;
};

/// What `app` takes. Words that CLI11 checks for itself (CLI::IsMember) need no entry in `values`;
/// folders and files follow from a type name that has DIR or FILE in it.
CommandDescription describe(const CLI::App& app, const ValueTable& values);

/// Prints the text for the command lines `PROGRAM --generate FORMAT`, by which the build makes
/// manual pages and completions, and `PROGRAM --complete WORD...`; false for any other command
/// line. FORMAT is "man" (the options as a part of a manual page), "markdown" (as a part of
/// docs/reference.md), "images" (the formats that are read), "bash", "zsh" or "fish" (completions).
/// Throws ConfigError for another one.
bool generated(int argc, const char* const* argv,
               const std::function<CommandDescription()>& command);

/// What a shell offers for --set: "KEY=" for each parameter, and "KEY=NAME" for fixed choices.
std::vector<std::string> assignments_offered();

/// Names of the networks that are built in, which --weights takes.
std::vector<std::string> network_names();

}  // namespace diacut::app
