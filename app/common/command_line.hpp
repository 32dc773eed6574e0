#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "command_description.hpp"
#include "console.hpp"

namespace CLI {
class App;
class Option;
class ParseError;
}  // namespace CLI

namespace diacut::app {

/// The group of the options that every program has.
inline constexpr const char* kMessages = "Messages and help";

inline constexpr std::size_t kHelpWidth = 80;

/// `text` in lines of at most `width` characters, broken at spaces.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

/// The command line of a program, with the options that every program has.
class CommandLine {
 public:
  /// `usage` is printed after "Usage: ", `inputs` above the arguments that are no options, and
  /// `examples` at the end of the help.
  CommandLine(const std::string& name, const std::string& description, const std::string& usage,
              const std::string& inputs, const std::string& examples);
  ~CommandLine();

  /// What --help prints then, and an empty command line; `--help all` prints all options.
  void brief_help(const char* text) { brief_ = text; }
  /// Adds the arguments that are no options. `offered`: what a shell offers for them.
  void inputs(const char* name, std::vector<std::string>& values, const char* meaning,
              const Values& offered);
  /// Adds an option; one for a list may be repeated. A text must not be empty, unless
  /// `may_be_empty` is set. Defined for the types of `value` that command_line.cpp names: CLI11 is
  /// compiled there.
  template <class Value>
  void option(const std::string& names, Value& value, const std::string& type, const char* group,
              const std::string& meaning, const Values& offered = {}, bool may_be_empty = false);
  void flag(const char* names, bool& value, const char* group, const std::string& meaning);
  /// Adds -q, -v, --timestamps, -h, and --version if `version` is set. `quiet` and `verbose` say
  /// what -q and -v show.
  void message_flags(const char* quiet, const char* verbose, bool version);
  /// Says that each of `options` has no effect without `needed`. Options are called by a long name.
  void need(const char* needed, std::initializer_list<const char*> options);
  /// Says that `option` and each of `others` exclude each other.
  void exclude(const char* option, std::initializer_list<const char*> others);
  bool given(const std::string& option) const;

  /// Parses the arguments and sets the console's verbosity. Returns whether there is something to
  /// do. If not, the help or the version was asked for and is printed. Throws ConfigError for what
  /// CLI11 finds wrong, options that do not go together (the first pair in the order in which they
  /// were added), unknown options, and empty texts.
  bool parse(int argc, const char* const* argv, Console& console);
  /// Throws ConfigError with a message that ends in "(see PROGRAM --help)".
  [[noreturn]] void fail(std::string_view message) const;

  /// For manual pages and completions.
  CommandDescription describe() const;

 private:
  /// What an option that is given asks of another one.
  struct Rule {
    const CLI::Option* option;
    const CLI::Option* other;
    bool given;  ///< Whether the other one has to be given, or must not be.
  };
  void check_rules() const;

  std::unique_ptr<CLI::App> app_;
  ValueTable offered_;
  std::vector<const CLI::Option*> texts_;
  std::vector<Rule> rules_;
  std::string brief_;
  bool quiet_ = false;
  bool verbose_ = false;
  bool timestamps_ = false;
};

/// Throws ConfigError with a message that ends in "(see PROGRAM --help)".
[[noreturn]] void fail_usage(std::string_view program, std::string_view message);

/// What CLI11 found wrong, in diacut's words where CLI11's are unclear.
std::string reworded(const CLI::ParseError& error);

/// "segment (diacut) 0.1.0", a line.
std::string version_text(const std::string& name);

}  // namespace diacut::app
