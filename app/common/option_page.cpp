#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <utility>

#include "command_description.hpp"

namespace diacut::app {

namespace {

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

}  // namespace

std::string option_page(const CommandDescription& command, bool man) {
  OptionPage page(man);
  page.add(command.name, command, !man);
  for (const CommandDescription& each : command.subcommands) {
    page.add(command.name + ' ' + each.name, each, true);
  }
  return page.text();
}

}  // namespace diacut::app
