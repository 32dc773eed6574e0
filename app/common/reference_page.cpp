#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <utility>

#include "command_description.hpp"

namespace diacut::app {

namespace {

constexpr const char* kNoGroup = "Options";  ///< CLI11's name for options without a group.

/// Options that were described, by the long name and the meaning.
using Described = std::set<std::pair<std::string, std::string>>;

std::string list_item(const OptionDescription& option) {
  const std::string value = option.value.empty() ? "" : ' ' + option.value;
  return fmt::format("- `{}{}`: {}\n", fmt::join(option.names, "`, `"), value, option.meaning);
}

/// A list for each group of options, and the names of those that are in `described`.
std::string option_lists(const CommandDescription& command, Described& described) {
  std::string text;
  std::string group;
  std::vector<std::string> known;
  for (const OptionDescription& option : command.options) {
    if (!described.emplace(option.names.back(), option.meaning).second) {
      known.push_back(option.names.back());
      continue;
    }
    if (option.group != group) {
      text += option.group == kNoGroup ? "\n" : fmt::format("\n### {}\n\n", option.group);
      group = option.group;
    }
    text += list_item(option);
  }
  if (!known.empty()) text += fmt::format("\nAs above: `{}`.\n", fmt::join(known, "`, `"));
  return text;
}

}  // namespace

std::string reference_page(const CommandDescription& command) {
  Described described;
  std::string text = fmt::format("\n## {}\n\n{}\n", command.name, command.summary);
  text += option_lists(command, described);
  for (const CommandDescription& each : command.subcommands) {
    text += fmt::format("\n## {} {}\n\n{}\n{}", command.name, each.name, each.summary,
                        option_lists(each, described));
  }
  return text;
}

}  // namespace diacut::app
