#include <fmt/format.h>
#include <fmt/ranges.h>

#include "command_description.hpp"

namespace diacut::app {

namespace {

/// `text` within single quotes, with a backslash before each of `special`.
std::string escaped(const std::string& text, const std::string& special) {
  std::string result;
  for (const char c : text) {
    if (c == '\'') {
      result += "'\\''";
      continue;
    }
    if (c == '\\' || special.find(c) != std::string::npos) result += '\\';
    result += c;
  }
  return result;
}

/// The body of a function that zsh_offers `values`.
std::string zsh_offers(const Values& values) {
  std::string text;
  const std::string words = fmt::format("{}", fmt::join(values.words, " "));
  if (!words.empty() && values.list) {
    text += fmt::format("  _sequence compadd - {} && ret=0\n", words);
  } else if (!words.empty()) {
    std::string plain;
    std::string assignments;
    for (const std::string& word : values.words) {
      (word.back() == '=' ? assignments : plain) += ' ' + word;
    }
    if (!plain.empty()) text += fmt::format("  compadd \"$@\" -{} && ret=0\n", plain);
    if (!assignments.empty())
      text += fmt::format("  compadd \"$@\" -S '' -{} && ret=0\n", assignments);
  }
  if (values.devices) {
    text +=
        "  compadd \"$@\" - auto gpu cpu ${(f)\"$(segment --list-devices 2>/dev/null |\n"
        "    awk '{ sub(/^[* ]+/, \"\") } $1 ~ /^[0-9]+:[0-9]+$/ { print $1 }')\"} && ret=0\n";
  }
  if (values.files && !values.extensions.empty()) {
    text += fmt::format("  _files \"$@\" -g '*.(#i)({})(-.)' && ret=0\n",
                        fmt::join(values.extensions, "|"));
  } else if (values.files) {
    text += "  _files \"$@\" && ret=0\n";
  } else if (values.folders) {
    text += "  _files \"$@\" -/ && ret=0\n";
  }
  return text.empty() ? "  _message value\n" : "  local ret=1\n" + text + "  return ret\n";
}

std::string option_spec(const OptionDescription& option, const std::string& function) {
  std::string text = option.repeatable ? "'*'" : "";
  if (!option.repeatable && option.names.size() > 1) {
    text = fmt::format("'({})'", fmt::join(option.names, " "));
  }
  const bool valued = !option.value.empty();
  std::vector<std::string> names;
  for (const std::string& name : option.names) {
    names.push_back(name + (valued ? (name[1] == '-' ? "=" : "+") : ""));
  }
  text += names.size() == 1 ? names.front() : fmt::format("{{{}}}", fmt::join(names, ","));
  text += fmt::format("'[{}]", escaped(short_meaning(option.meaning), "[]"));
  if (valued) text += fmt::format(":{}:{}", escaped(option.value, ":"), function);
  return text + "'";
}

/// The functions that complete one command: its own, and one for each kind of value.
std::string command_functions(const CommandDescription& command, const std::string& function) {
  std::string values;
  std::string body = function + "() {\n  _arguments -s -S \\\n";
  for (const OptionDescription& option : command.options) {
    std::string name;
    if (!option.value.empty()) {
      name = function + "_value" + option.names.back().substr(1);
      values += fmt::format("{}() {{\n{}}}\n\n", name, zsh_offers(option.values));
    }
    body += "    " + option_spec(option, name) + " \\\n";
  }
  values += fmt::format("{}_inputs() {{\n{}}}\n\n", function, zsh_offers(command.inputs));
  return values + body + fmt::format("    '*:input:{}_inputs'\n}}\n\n", function);
}

}  // namespace

std::string zsh_completion(const CommandDescription& command) {
  const std::string function = "_" + command.name;
  std::string text = fmt::format(
      "#compdef {0}\n# zsh completion for {0}, made from its options by {0} --generate zsh.\n\n",
      command.name);
  text += command_functions(command, function + "_alone");
  if (command.subcommands.empty()) return text + function + "_alone \"$@\"\n";
  std::string choice;
  std::string names;
  for (const CommandDescription& subcommand : command.subcommands) {
    const std::string own = function + "_" + subcommand.name;
    text += command_functions(subcommand, own);
    choice += fmt::format("    {} )\n      shift words\n      ((CURRENT--))\n      {}\n      ;;\n",
                          subcommand.name, own);
    names += fmt::format("    '{}:{}'\n", subcommand.name,
                         escaped(short_meaning(subcommand.summary), ":"));
  }
  text += "if ((CURRENT > 2)); then\n  case $words[2] in\n" + choice;
  text += fmt::format("    *) {}_alone ;;\n  esac\nelse\n  local -a subcommands\n", function);
  text += "  subcommands=(\n" + names + "  )\n";
  text += fmt::format(
      "  local ret=1\n  _describe subcommand subcommands && ret=0\n  {}_alone && ret=0\n"
      "  return ret\nfi\n",
      function);
  return text;
}

}  // namespace diacut::app
