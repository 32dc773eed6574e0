#include <fmt/format.h>
#include <fmt/ranges.h>

#include "command_description.hpp"

namespace diacut::app {

namespace {

/// The statements that fill COMPREPLY with `values`, each line indented by `indent`.
std::string replies(const Values& values, const std::string& indent) {
  std::string text;
  const std::string words = fmt::format("{}", fmt::join(values.words, " "));
  if (!words.empty()) {
    text += indent + fmt::format("_diacut_{} '{}'\n", values.list ? "list" : "words", words);
  }
  if (values.devices) {
    text += indent + "_diacut_words 'auto gpu cpu '\"$(_diacut_devices)\"\n";
  }
  if (values.files && !values.extensions.empty()) {
    text += indent + fmt::format("_filedir '@({})'\n", fmt::join(values.extensions, "|"));
  } else if (values.files) {
    text += indent + "_filedir\n";
  } else if (values.folders) {
    text += indent + "_filedir -d\n";
  }
  return text;
}

std::string option_names(const CommandDescription& command) {
  std::vector<std::string> names;
  for (const OptionDescription& option : command.options) {
    names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return fmt::format("{}", fmt::join(names, " "));
}

/// Completes one command, whose words _init_completion has split.
std::string command_function(const CommandDescription& command, const std::string& function) {
  std::string text = function + "() {\n  case $prev in\n";
  for (const OptionDescription& option : command.options) {
    if (option.value.empty()) continue;
    text += fmt::format("    {})\n{}      return\n      ;;\n", fmt::join(option.names, " | "),
                        replies(option.values, "      "));
  }
  text += "  esac\n  $split && return\n  if [[ $cur == -* ]]; then\n";
  text += fmt::format("    _diacut_words '{}'\n    return\n  fi\n", option_names(command));
  if (!command.subcommands.empty()) {
    text += "  if ((cword == 1)); then\n    _diacut_words '";
    std::string separator;
    for (const CommandDescription& subcommand : command.subcommands) {
      text += separator + subcommand.name;
      separator = " ";
    }
    text += "'\n  fi\n";
  }
  text += replies(command.inputs, "  ");
  // A function needs a success at its end, even if nothing was found.
  return text + "  return 0\n}\n\n";
}

constexpr const char* kHelpers =
    R"(# Offers those of the words in $1 that $cur begins. Words that end in = take something behind it.
# Readline splits words at = and :, so what stands before those is left out of the replies.
_diacut_words() {
  local word before=
  [[ $cur == *=* && $COMP_WORDBREAKS == *=* ]] && before=${cur%"${cur##*=}"}
  [[ $cur == *:* && $COMP_WORDBREAKS == *:* ]] && before=${cur%"${cur##*:}"}
  for word in $(compgen -W "$1" -- "$cur"); do
    [[ $word == *= ]] && compopt -o nospace 2>/dev/null
    COMPREPLY+=("${word#"$before"}")
  done
}

# The same for the last word of a list that is separated by commas.
_diacut_list() {
  local before=
  [[ $cur == *,* ]] && before=${cur%,*},
  local cur=${cur#"$before"} words=$1 word
  for word in $(compgen -W "$words" -- "$cur"); do COMPREPLY+=("$before$word"); done
}

_diacut_devices() {
  segment --list-devices 2>/dev/null | awk '{ sub(/^[* ]+/, "") } $1 ~ /^[0-9]+:[0-9]+$/ { print $1 }'
}

)";

}  // namespace

std::string bash_completion(const CommandDescription& command) {
  std::string name = command.name;
  for (char& c : name) c = c == '-' ? '_' : c;
  const std::string function = "_" + name;
  std::string text = fmt::format(
      "# bash completion for {0}, made from its options by {0} --generate bash.\n\n", command.name);
  text += kHelpers;
  text += command_function(command, function + "_alone");
  std::string choice;
  for (const CommandDescription& subcommand : command.subcommands) {
    text += command_function(subcommand, function + "_" + subcommand.name);
    choice += fmt::format("    {0}) {1}_{0} ;;\n", subcommand.name, function);
  }
  text += function + "() {\n  local cur prev words cword split\n";
  text += "  _init_completion -s -n := || return\n";
  if (choice.empty()) {
    text += "  " + function + "_alone\n}\n";
  } else {
    text += "  local subcommand=\n  ((cword > 1)) && subcommand=${words[1]}\n";
    text += "  case $subcommand in\n" + choice + "    *) " + function + "_alone ;;\n  esac\n}\n";
  }
  return text + fmt::format("complete -F {} {}\n", function, command.name);
}

}  // namespace diacut::app
