#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "command_description.hpp"

namespace diacut::app {

namespace {

/// `text` as roff shows it literally: minus signs that can be copied, no control lines.
std::string roff(const std::string& text) {
  std::string result;
  if (!text.empty() && (text.front() == '.' || text.front() == '\'')) result += "\\&";
  for (const char c : text) {
    if (c == '-') {
      result += "\\-";
    } else if (c == '\\') {
      result += "\\e";
    } else {
      result += c;
    }
  }
  return result;
}

/// "FILE|DIR|-" with its words in italics.
std::string roff_value(const std::string& value) {
  std::string result;
  std::string word;
  const auto flush = [&] {
    if (!word.empty()) result += "\\fI" + word + "\\fR";
    word.clear();
  };
  for (const char c : value) {
    if (c >= 'A' && c <= 'Z') {
      word += c;
      continue;
    }
    flush();
    result += roff(std::string(1, c));
  }
  flush();
  return result;
}

std::string sentence(const std::string& text) {
  return text.empty() || text.back() == '.' ? text : text + '.';
}

std::string man_option(const OptionDescription& option) {
  std::string names;
  for (const std::string& name : option.names) {
    if (!names.empty()) names += ", ";
    names += "\\fB" + roff(name) + "\\fR";
  }
  if (!option.value.empty()) names += ' ' + roff_value(option.value);
  return fmt::format(".TP\n{}\n{}\n", names, roff(sentence(option.meaning)));
}

std::string man_groups(const CommandDescription& command, const char* heading) {
  std::string text;
  std::string group;
  for (const OptionDescription& option : command.options) {
    if (option.group != group && heading != nullptr) {
      text += fmt::format("{} \"{}\"\n", heading, roff(option.group));
    }
    group = option.group;
    text += man_option(option);
  }
  return text;
}

/// Takes the options that all subcommands have out of them.
std::vector<OptionDescription> take_common(std::vector<CommandDescription>& commands) {
  const auto is_like = [](const OptionDescription& a, const OptionDescription& b) {
    return a.names == b.names && a.value == b.value && a.meaning == b.meaning;
  };
  std::vector<OptionDescription> common;
  for (const OptionDescription& option : commands.front().options) {
    const auto has = [&](const CommandDescription& command) {
      return std::any_of(command.options.begin(), command.options.end(),
                         [&](const OptionDescription& other) { return is_like(option, other); });
    };
    if (std::all_of(commands.begin(), commands.end(), has)) common.push_back(option);
  }
  for (CommandDescription& command : commands) {
    std::erase_if(command.options, [&](const OptionDescription& option) {
      return std::any_of(common.begin(), common.end(),
                         [&](const OptionDescription& other) { return is_like(option, other); });
    });
  }
  return common;
}

}  // namespace

std::string man_options(const CommandDescription& command) {
  const bool grouped = std::any_of(
      command.options.begin(), command.options.end(),
      [&](const OptionDescription& option) { return option.group != command.options[0].group; });
  std::string text = man_groups(command, grouped ? ".SS" : nullptr);
  std::vector<CommandDescription> subcommands = command.subcommands;
  if (subcommands.size() > 1) {
    text += ".SS \"Options of all subcommands\"\n";
    for (const OptionDescription& option : take_common(subcommands)) text += man_option(option);
  }
  for (const CommandDescription& subcommand : subcommands) {
    text += fmt::format(".SS \"{} {}\"\n{}\n", roff(command.name), roff(subcommand.name),
                        roff(sentence(subcommand.summary)));
    text += man_groups(subcommand, nullptr);
  }
  return text;
}

}  // namespace diacut::app
