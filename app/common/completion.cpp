#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "command_description.hpp"
#include "core/embedded_bytes.hpp"
#include "core/parameter_table.hpp"
#include "diacut/device.hpp"
#include "diacut/errors.hpp"
#include "text.hpp"

namespace diacut::app {

namespace {

namespace fs = std::filesystem;

// Candidates that end in "/", "=" or "," take something behind them, and so no space.
constexpr const char* kBash = R"(# bash completion for {0}, which tells itself what may follow.
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
# zsh completion for {0}, which tells itself what may follow.
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
constexpr const char* kFish = R"(# fish completion for {0}, which tells itself what may follow.
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

/// The names that a parameter takes, if it takes one of a fixed choice; else nothing.
std::vector<std::string> names_taken(const ParameterEntry& entry) {
  const auto* choice = std::get_if<NameDomain>(&entry.domain);
  if (choice == nullptr) return {};
  return {choice->names.begin(), choice->names.end()};
}

}  // namespace

std::string completion_script(const CommandDescription& command, const std::string& shell) {
  std::string function = "_" + command.name;
  std::replace(function.begin(), function.end(), '-', '_');
  const char* script = shell == "bash" ? kBash : shell == "zsh" ? kZsh : kFish;
  return fmt::format(fmt::runtime(script), command.name, function);
}

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

std::vector<std::string> parameter_choices(const std::string& key) {
  for (const ParameterEntry& entry : parameter_table()) {
    if (entry.key() == key) return names_taken(entry);
  }
  return {};
}

std::vector<std::string> assignments_offered() {
  std::vector<std::string> words;
  for (const ParameterEntry& entry : parameter_table()) {
    words.push_back(entry.key() + "=");
    for (const std::string& name : names_taken(entry)) words.push_back(entry.key() + "=" + name);
  }
  return words;
}

std::vector<std::string> network_names() {
  std::vector<std::string> names;
  for (const EmbeddedBytes& network : embedded_networks()) names.emplace_back(network.name);
  return names;
}

}  // namespace diacut::app
