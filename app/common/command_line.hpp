#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

#include "common_options.hpp"

namespace diacut::app {

/// How all programs show their help: 80 columns, options in their groups, one column of meanings.
class HelpFormatter : public CLI::Formatter {
 public:
  /// `usage` is what follows "Usage: ".
  explicit HelpFormatter(std::string usage) : usage_(std::move(usage)) {}

  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override;
  std::string make_group(std::string group, bool is_positional,
                         std::vector<const CLI::Option*> options) const override;
  std::string make_usage(const CLI::App* app, std::string name) const override;

 private:
  std::string usage_;
};

/// The command line of a program, with the options that all of them have.
class CommandLine {
 public:
  /// `usage` follows "Usage: "; `inputs` is the heading of what is no option; `examples` end the
  /// help.
  CommandLine(const std::string& name, const std::string& description, const std::string& usage,
              const std::string& inputs, const std::string& examples);

  CLI::App& app() { return app_; }
  const CLI::App& app() const { return app_; }
  template <class Value>
  CLI::Option* option(const char* names, Value& value, const char* type, const char* group,
                      const std::string& meaning) {
    return app_.add_option(names, value, meaning)->type_name(type)->group(group);
  }
  void flag(const char* names, bool& value, const char* group, const std::string& meaning);
  /// -q and -v, of which it says what they show, -h, and --version if `version` is set.
  void message_flags(const char* group, const char* quiet, const char* verbose, bool version);

  /// Throws ConfigError for what CLI11 finds wrong, unknown options, and -q with -v. Asked for help
  /// it looks no further. Returns whether there is something to do: else `common` has an answer,
  /// and the program's own options may not make sense.
  bool parse(int argc, const char* const* argv, CommonOptions& common);

 private:
  /// Throws ConfigError with the message, and where help is.
  [[noreturn]] void fail(const std::string& message) const;

  CLI::App app_;
  bool quiet_ = false;
  bool verbose_ = false;
  bool version_ = false;
  bool help_ = false;
};

/// ": did you mean --regions?", or nothing when no option is near.
std::string suggestion(const CLI::App& app, const std::string& unknown);

/// What CLI11 found wrong, in our words where its own are unclear.
std::string reworded(const CLI::ParseError& error);

}  // namespace diacut::app
