#include "command_description.hpp"

#include <fmt/format.h>

#include <set>
#include <stdexcept>
#include <string_view>

#include "core/split_text.hpp"
#include "diacut/errors.hpp"

namespace diacut::app {

namespace {

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

class Describer {
 public:
  explicit Describer(const ValueTable& values) : values_(values) {}

  CommandDescription command(const CLI::App& app) {
    CommandDescription result;
    result.name = app.get_name();
    result.summary = app.get_description();
    std::map<std::string, std::vector<OptionDescription>> options;
    for (const CLI::Option* option : app.get_options()) {
      const TypeName type = type_name(*option);
      if (option->get_positional()) {
        result.inputs = values(option->get_name(true, false), type);
      } else if (!option->get_group().empty()) {
        options[option->get_group()].push_back(described(*option, type));
      }
    }
    for (const std::string& group : app.get_groups()) {
      const std::vector<OptionDescription>& members = options[group];
      result.options.insert(result.options.end(), members.begin(), members.end());
    }
    for (const CLI::App* subcommand : app.get_subcommands([](const CLI::App*) { return true; })) {
      result.subcommands.push_back(command(*subcommand));
    }
    return result;
  }

  void check_all_used() const {
    for (const auto& [name, unused] : values_) {
      if (used_.count(name) == 0) {
        throw std::logic_error(fmt::format("values for '{}', which no option is named", name));
      }
    }
  }

 private:
  OptionDescription described(const CLI::Option& option, const TypeName& type) {
    OptionDescription result;
    for (const std::string& name : option.get_snames()) result.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) result.names.push_back("--" + name);
    result.group = option.get_group();
    result.meaning = option.get_description();
    result.repeatable = option.get_expected_max() > 1 ||
                        option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
    if (option.get_type_size() == 0) return result;
    result.value = type.type;
    result.values = values(result.names.back(), type);
    if (!type.check.empty()) result.meaning += fmt::format(" ({})", in_words(type.check));
    const std::string usual = default_of(option);
    if (!usual.empty()) result.meaning += fmt::format(" (default {})", usual);
    return result;
  }

  Values values(const std::string& name, const TypeName& type) {
    Values result;
    const auto own = values_.find(name);
    if (own != values_.end()) {
      used_.insert(name);
      result = own->second;
    } else if (!type.check.empty() && type.check.front() == '{') {
      const std::string words = in_words(type.check);
      for (const std::string_view word : split_text(words, ',')) result.words.emplace_back(word);
    }
    result.folders = result.folders || contains(type.type, "DIR") || contains(name, "FOLDER");
    result.files = result.files || contains(type.type, "FILE");
    return result;
  }

  const ValueTable& values_;
  std::set<std::string> used_;
};

std::string generate(const CommandDescription& command, const std::string& format) {
  if (format == "man" || format == "markdown") return option_page(command, format == "man");
  if (format == "bash" || format == "zsh" || format == "fish") {
    return completion_script(command, format);
  }
  throw ConfigError(
      fmt::format("--generate: '{}' is none of man, markdown, bash, zsh, fish (the texts that "
                  "are made from the options)",
                  format));
}

}  // namespace

CommandDescription describe(const CLI::App& app, const ValueTable& values) {
  Describer describer(values);
  CommandDescription result = describer.command(app);
  describer.check_all_used();
  return result;
}

std::optional<std::string> generated(int argc, const char* const* argv,
                                     const std::function<CommandDescription()>& command) {
  if (argc == 3 && std::string_view(argv[1]) == "--generate") return generate(command(), argv[2]);
  if (argc >= 3 && std::string_view(argv[1]) == "--complete") {
    return complete(command(), std::vector<std::string>(argv + 2, argv + argc));
  }
  return std::nullopt;
}

}  // namespace diacut::app
