#include "command_description.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/embedded_text.hpp"
#include "core/split_text.hpp"
#include "diacut/device.hpp"
#include "diacut/errors.hpp"
#include "diacut/output.hpp"
#include "image/format.hpp"
#include "parameters/parameter_table.hpp"
#include "text.hpp"

namespace diacut::app {

namespace {

namespace fs = std::filesystem;

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

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

Values values_of(const std::string& name, const TypeName& type, const ValueTable& values) {
  Values result;
  if (const auto own = values.find(name); own != values.end()) {
    result = own->second;
  } else if (!type.check.empty() && type.check.front() == '{') {
    const std::string words = in_words(type.check);
    for (const std::string_view word : split_text(words, ',')) result.words.emplace_back(word);
  }
  result.folders = result.folders || contains(type.type, "DIR") || contains(name, "FOLDER");
  result.files = result.files || contains(type.type, "FILE");
  return result;
}

OptionDescription described(const CLI::Option& option, const TypeName& type,
                            const ValueTable& values) {
  OptionDescription result;
  for (const std::string& name : option.get_snames()) result.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) result.names.push_back("--" + name);
  result.group = option.get_group();
  result.meaning = option.get_description();
  if (option.get_type_size() == 0) return result;
  result.value = type.type;
  result.values = values_of(result.names.back(), type, values);
  if (!type.check.empty()) result.meaning += fmt::format(" ({})", in_words(type.check));
  const std::string usual = default_of(option);
  if (!usual.empty()) result.meaning += fmt::format(" (default {})", usual);
  return result;
}

constexpr const char* kNoGroup = "Options";  ///< CLI11's name for options without a group.

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

std::string sentence(const std::string& text) {
  return text.empty() || text.back() == '.' ? text : text + '.';
}

/// The options of a program and its subcommands, as a part of a manual page or of
/// docs/reference.md.
class OptionPage {
 public:
  explicit OptionPage(bool man) : man_(man) {}

  /// A heading, a sentence, and a list for each group of options, but for those that were listed.
  void add(const std::string& name, const CommandDescription& command, bool headed) {
    if (headed && man_) {
      text_ += fmt::format(".SS \"{}\"\n{}\n", roff(name), roff(sentence(command.summary)));
    } else if (headed) {
      text_ += fmt::format("\n## {}\n\n{}\n", name, command.summary);
    }
    std::string group;
    std::vector<std::string> known;
    for (const OptionDescription& option : command.options) {
      if (!listed_.emplace(option.names.back(), option.meaning).second) {
        known.push_back(shown(option.names.back()));
        continue;
      }
      if (option.group != group) begin_group(option.group);
      group = option.group;
      list(option);
    }
    if (known.empty()) return;
    text_ += fmt::format("{}As above: {}.\n", man_ ? ".PP\n" : "\n", fmt::join(known, ", "));
  }

  const std::string& text() const { return text_; }

 private:
  std::string shown(const std::string& name) const {
    return man_ ? "\\fB" + roff(name) + "\\fR" : '`' + name + '`';
  }

  void begin_group(const std::string& group) {
    if (man_) {
      if (group != kNoGroup) text_ += fmt::format(".SS \"{}\"\n", roff(group));
    } else {
      text_ += group == kNoGroup ? "\n" : fmt::format("\n### {}\n\n", group);
    }
  }

  void list(const OptionDescription& option) {
    const std::string value = option.value.empty() ? "" : ' ' + option.value;
    if (!man_) {
      text_ +=
          fmt::format("- `{}{}`: {}\n", fmt::join(option.names, "`, `"), value, option.meaning);
      return;
    }
    std::vector<std::string> names;
    for (const std::string& name : option.names) names.push_back(shown(name));
    text_ += fmt::format(".TP\n{}\\fI{}\\fR\n{}\n", fmt::join(names, ", "), roff(value),
                         roff(sentence(option.meaning)));
  }

  bool man_;
  std::string text_;
  std::set<std::pair<std::string, std::string>> listed_;  ///< By the long name and the meaning.
};

/// The options as a part of a manual page, or of docs/reference.md.
std::string option_page(const CommandDescription& command, bool man) {
  OptionPage page(man);
  page.add(command.name, command, !man);
  for (const CommandDescription& each : command.subcommands) {
    page.add(command.name + ' ' + each.name, each, true);
  }
  return page.text();
}

// Candidates that end in "/", "=" or "," take something behind them, and so no space.
constexpr const char* kBash = R"(# bash completion for {0}, which itself knows what may follow.
{1}() {{
  local cur prev words cword word before=
  _init_completion -n =: || return
  # Readline splits words at = and :, so what stands before those is left out of the replies.
  [[ $cur == *=* && $COMP_WORDBREAKS == *=* ]] && before=${{cur%"${{cur##*=}}"}}
  [[ $cur == *:* && $COMP_WORDBREAKS == *:* ]] && before=${{cur%"${{cur##*:}}"}}
  while IFS=$'\t' read -r word _; do
    [[ $word == *[/=,] ]] && compopt -o nospace 2>/dev/null
    COMPREPLY+=("${{word#"$before"}}")
  done < <({0} --complete "${{words[@]:1:cword}}" 2>/dev/null)
}}
complete -F {1} {0}
)";
constexpr const char* kZsh = R"(#compdef {0}
# zsh completion for {0}, which itself knows what may follow.
local ret=1
local -a found more
found=("${{(@f)$({0} --complete "${{(@)words[2,CURRENT]}}" 2>/dev/null)}}")
found=("${{(@)found%%$'\t'*}}")
more=("${{(@M)found:#*[/=,]}}")
found=("${{(@)found:#*[/=,]}}")
compadd -- "${{(@)found:#}}" && ret=0
compadd -S '' -- "$more[@]" && ret=0
return ret
)";
constexpr const char* kFish = R"(# fish completion for {0}, which itself knows what may follow.
function {1}
  set -l typed (commandline -opc)
  {0} --complete $typed[2..] (commandline -ct) 2>/dev/null
end
complete -c {0} -f -a '({1})'
)";

/// The beginning of an option's meaning, short enough for a line beside its name.
std::string short_meaning(const std::string& meaning) {
  constexpr std::size_t kMost = 60;
  std::string text = meaning.substr(0, std::min(meaning.find("; "), meaning.find(" (default")));
  if (text.size() <= kMost) return text;
  text.resize(text.rfind(' ', kMost - 4));
  while (text.back() == ',' || text.back() == ':') text.pop_back();
  return text + " ...";
}

/// What may stand in the place of `typed`.
class Offer {
 public:
  explicit Offer(const std::string& typed) : typed_(typed) {}

  void word(const std::string& word, const std::string& meaning = {}) {
    if (!word.starts_with(typed_)) return;
    text_ += before_ + word + (meaning.empty() ? "" : '\t' + short_meaning(meaning)) + '\n';
  }

  void values(const Values& values) {
    const std::size_t comma = typed_.rfind(',');
    if (values.list && comma != std::string::npos) skip(comma + 1);
    for (const std::string& each : values.words) word(each);
    if (values.devices) devices();
    if (values.files || values.folders) files(values);
  }

  /// Takes what stands before a value off the typed text, and puts it before each offer.
  void skip(std::size_t count) {
    before_ += typed_.substr(0, count);
    typed_.erase(0, count);
  }

  const std::string& text() const { return text_; }

 private:
  void devices() {
    for (const char* each : {"auto", "gpu", "cpu"}) word(each);
    try {
      for (const DeviceInfo& device : list_devices()) word(device.index());
    } catch (const Error&) {  // There are none.
    }
  }

  void files(const Values& values) {
    const std::string folder = typed_.substr(0, typed_.rfind('/') + 1);
    std::error_code failed;
    for (fs::directory_iterator each(folder.empty() ? "." : folder, failed), end;
         !failed && each != end; each.increment(failed)) {
      const std::string name = each->path().filename().string();
      if (name.front() == '.' && typed_ == folder) continue;
      std::error_code unknown;
      if (each->is_directory(unknown)) {
        word(folder + name + '/');
      } else if (values.files &&
                 (values.extensions.empty() || has_extension(name, values.extensions))) {
        word(folder + name);
      }
    }
  }

  std::string typed_;
  std::string before_;
  std::string text_;
};

const OptionDescription* option_named(const CommandDescription& command, const std::string& name) {
  for (const OptionDescription& option : command.options) {
    const auto& names = option.names;
    if (std::find(names.begin(), names.end(), name) != names.end()) return &option;
  }
  return nullptr;
}

/// The script for "bash", "zsh" or "fish". It asks the program by `--complete`.
std::string completion_script(const CommandDescription& command, const std::string& shell) {
  std::string function = "_" + command.name;
  std::replace(function.begin(), function.end(), '-', '_');
  const char* script = shell == "bash" ? kBash : shell == "zsh" ? kZsh : kFish;
  return fmt::format(fmt::runtime(script), command.name, function);
}

/// What may stand in the place of the last of the words of a command line, which may be empty: a
/// line for each, of options with a tab and their meaning.
std::string complete(const CommandDescription& program, std::vector<std::string> words) {
  const CommandDescription* command = &program;
  for (const CommandDescription& each : program.subcommands) {
    if (words.size() > 1 && words.front() == each.name) command = &each;
  }
  if (command != &program) words.erase(words.begin());
  const std::string& typed = words.back();
  Offer offer(typed);
  const std::size_t equals = typed.starts_with("--") ? typed.find('=') : std::string::npos;
  const OptionDescription* option =
      equals != std::string::npos ? option_named(*command, typed.substr(0, equals))
      : words.size() > 1          ? option_named(*command, words[words.size() - 2])
                                  : nullptr;
  if (option != nullptr && !option->value.empty()) {
    if (equals != std::string::npos) offer.skip(equals + 1);
    offer.values(option->values);
  } else if (typed.starts_with('-')) {
    for (const OptionDescription& each : command->options) {
      for (const std::string& name : each.names) offer.word(name, each.meaning);
    }
  } else {
    for (const CommandDescription& each : command->subcommands) {
      if (words.size() == 1) offer.word(each.name, each.summary);
    }
    offer.values(command->inputs);
  }
  return offer.text();
}

std::string generate(const CommandDescription& command, const std::string& format) {
  if (format == "man" || format == "markdown") return option_page(command, format == "man");
  if (format == "images") return image_format_names();
  if (format == "bash" || format == "zsh" || format == "fish") {
    return completion_script(command, format);
  }
  throw ConfigError(fmt::format(
      "--generate: '{}' is none of man, markdown, images, bash, zsh, fish (the texts that "
      "are made from the options)",
      format));
}

}  // namespace

CommandDescription describe(const CLI::App& app, const ValueTable& values) {
  CommandDescription result;
  result.name = app.get_name();
  result.summary = app.get_description();
  std::map<std::string, std::vector<OptionDescription>> options;
  for (const CLI::Option* option : app.get_options()) {
    const TypeName type = type_name(*option);
    if (option->get_positional()) {
      result.inputs = values_of(option->get_name(true, false), type, values);
    } else if (!option->get_group().empty()) {
      options[option->get_group()].push_back(described(*option, type, values));
    }
  }
  for (const std::string& group : app.get_groups()) {
    const std::vector<OptionDescription>& members = options[group];
    result.options.insert(result.options.end(), members.begin(), members.end());
  }
  for (const CLI::App* subcommand : app.get_subcommands([](const CLI::App*) { return true; })) {
    result.subcommands.push_back(describe(*subcommand, values));
  }
  return result;
}

bool generated(int argc, const char* const* argv,
               const std::function<CommandDescription()>& command) {
  if (argc == 3 && std::string_view(argv[1]) == "--generate") {
    write_file("-", generate(command(), argv[2]));
  } else if (argc >= 3 && std::string_view(argv[1]) == "--complete") {
    write_file("-", complete(command(), std::vector<std::string>(argv + 2, argv + argc)));
  } else {
    return false;
  }
  return true;
}

std::vector<std::string> assignments_offered() {
  std::vector<std::string> words;
  for (const ParameterEntry& entry : parameter_table()) {
    words.push_back(entry.key() + "=");
    for (const std::string_view name : entry.names) {
      words.push_back(fmt::format("{}={}", entry.key(), name));
    }
  }
  return words;
}

std::vector<std::string> network_names() {
  std::vector<std::string> names;
  for (const EmbeddedBytes& network : embedded_networks()) names.emplace_back(network.name);
  return names;
}

}  // namespace diacut::app
