#include <fmt/format.h>
#include <fmt/ranges.h>

#include "command_description.hpp"

namespace diacut::app {

namespace {

/// `text` in fish's single quotes.
std::string fish_quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result + "'";
}

/// The arguments of fish's `complete` that offer `values`.
std::string offers(const Values& values) {
  std::string choices;
  const auto add = [&](const std::string& more) { choices += (choices.empty() ? "" : " ") + more; };
  if (!values.words.empty()) {
    const std::string words = fmt::format("{}", fmt::join(values.words, " "));
    add(values.list ? "(__fish_append , " + words + ")" : words);
  }
  if (values.devices) {
    add("auto gpu cpu (segment --list-devices 2>/dev/null | string match -rg '^[* "
        "]*([0-9]+:[0-9]+) ')");
  }
  if (values.files && !values.extensions.empty()) {
    // Folders too, to go down into them; a description may follow a name after a tab.
    add(fmt::format(
        R"((__fish_complete_path (commandline -ct) | string match -rei '(/|\.({}))(\t.*)?$'))",
        fmt::join(values.extensions, "|")));
  } else if (values.files) {
    return choices.empty() ? "-F" : "-F -a " + fish_quoted(choices);
  } else if (values.folders) {
    add("(__fish_complete_directories)");
  }
  return choices.empty() ? "-f" : "-f -a " + fish_quoted(choices);
}

/// Lines for one command, which hold when `condition` is true.
std::string command_lines(const CommandDescription& command, const std::string& program,
                          const std::string& condition) {
  const std::string begin = "complete -c " + program + condition;
  std::string text;
  for (const OptionDescription& option : command.options) {
    text += begin;
    for (const std::string& name : option.names) {
      text += name.rfind("--", 0) == 0 ? " -l " + name.substr(2) : " -s " + name.substr(1);
    }
    if (!option.value.empty()) text += " -r " + offers(option.values);
    text += " -d " + fish_quoted(short_meaning(option.meaning)) + "\n";
  }
  return text + begin + " " + offers(command.inputs) + "\n";
}

}  // namespace

std::string fish_completion(const CommandDescription& command) {
  std::string text = fmt::format(
      "# fish completion for {0}, made from its options by {0} --generate fish.\n", command.name);
  std::string names;
  for (const CommandDescription& subcommand : command.subcommands) names += " " + subcommand.name;
  const std::string alone =
      names.empty() ? "" : " -n 'not __fish_seen_subcommand_from" + names + "'";
  text += command_lines(command, command.name, alone);
  for (const CommandDescription& subcommand : command.subcommands) {
    text += fmt::format("complete -c {} -n __fish_is_first_arg -a {} -d {}\n", command.name,
                        subcommand.name, fish_quoted(short_meaning(subcommand.summary)));
    text += command_lines(subcommand, command.name,
                          " -n '__fish_seen_subcommand_from " + subcommand.name + "'");
  }
  return text;
}

}  // namespace diacut::app
