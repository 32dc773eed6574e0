#include "command_description.hpp"

#include <fmt/format.h>

#include <map>
#include <string_view>

#include "diacut/errors.hpp"

namespace diacut::app {

namespace {

/// "TEXT:{learned,gradient}", which CLI11 makes of a type and its checks, in parts.
struct TypeName {
  std::string type;   ///< "TEXT".
  std::string check;  ///< "{learned,gradient}".
};

TypeName type_name(const CLI::Option& option) {
  const std::string name = option.get_type_name();
  const std::size_t colon = name.find(':');
  if (colon == std::string::npos || name == "LOW:HIGH") return {name, {}};
  return {name.substr(0, colon), name.substr(colon + 1)};
}

/// A check in words: "1 to 64" for "INT in [1 - 64]".
std::string in_words(const std::string& check) {
  const std::size_t open = check.find('[');
  const std::size_t dash = check.find(" - ");
  const std::size_t close = check.find(']');
  if (open != std::string::npos && dash != std::string::npos && close != std::string::npos) {
    return check.substr(open + 1, dash - open - 1) + " to " +
           check.substr(dash + 3, close - dash - 3);
  }
  if (check == "POSITIVE") return "positive";
  if (check.size() > 2 && check.front() == '{') return check.substr(1, check.size() - 2);
  return check;
}

std::string default_of(const CLI::Option& option) {
  std::string text = option.get_default_str();
  if (text.size() >= 2 && text.front() == '[') text = text.substr(1, text.size() - 2);
  return text;
}

OptionDescription described(const CLI::Option& option) {
  OptionDescription result;
  for (const std::string& name : option.get_snames()) result.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) result.names.push_back("--" + name);
  result.group = option.get_group();
  result.meaning = option.get_description();
  if (option.get_type_size() == 0) return result;
  const TypeName type = type_name(option);
  result.value = type.type;
  if (!type.check.empty()) result.meaning += fmt::format(" ({})", in_words(type.check));
  const std::string usual = default_of(option);
  if (!usual.empty()) result.meaning += fmt::format(" (default {})", usual);
  return result;
}

}  // namespace

CommandDescription describe(const CLI::App& app) {
  CommandDescription result;
  result.name = app.get_name();
  result.summary = app.get_description();
  std::map<std::string, std::vector<OptionDescription>> options;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional() || option->get_group().empty()) continue;
    options[option->get_group()].push_back(described(*option));
  }
  for (const std::string& group : app.get_groups()) {
    const std::vector<OptionDescription>& members = options[group];
    result.options.insert(result.options.end(), members.begin(), members.end());
  }
  for (const CLI::App* subcommand : app.get_subcommands([](const CLI::App*) { return true; })) {
    result.subcommands.push_back(describe(*subcommand));
  }
  return result;
}

std::optional<std::string> generated(int argc, const char* const* argv,
                                     const std::function<CommandDescription()>& command) {
  if (argc != 3 || std::string_view(argv[1]) != "--generate") return std::nullopt;
  const std::string_view format = argv[2];
  if (format == "man" || format == "markdown") return option_page(command(), format == "man");
  throw ConfigError(
      fmt::format("--generate: '{}' is none of man, markdown (the texts that are made from the "
                  "options)",
                  format));
}

}  // namespace diacut::app
