#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

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

/// ": did you mean --regions?", or nothing when no option is near.
std::string suggestion(const CLI::App& app, const std::string& unknown);

/// What CLI11 found wrong, in our words where its own are unclear.
std::string reworded(const CLI::ParseError& error);

}  // namespace diacut::app
