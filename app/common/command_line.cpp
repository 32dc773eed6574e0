#include "command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <type_traits>
#include <utility>

#include "core/split_text.hpp"
#include "diacut/errors.hpp"
#include "diacut/output.hpp"
#include "diacut/version.hpp"

namespace diacut::app {

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  while (text.size() > width) {
    std::size_t end = text.rfind(' ', width);
    if (end == std::string_view::npos) end = width;
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  lines.emplace_back(text);
  return lines;
}

namespace {

constexpr std::size_t kHelpIndent = 28;

/// How every program shows its help: in 80 columns, the options in groups, their meanings in one
/// column.
class HelpFormatter : public CLI::Formatter {
 public:
  /// `usage` is what follows "Usage: ".
  explicit HelpFormatter(std::string usage) : usage_(std::move(usage)) {}

  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    std::string name = "  " + make_option_name(option, is_positional);
    if (!is_positional && option->get_type_size() != 0) name += ' ' + option->get_type_name();
    // Long options stand in one column, whether a short one comes first or not.
    if (name.rfind("  --", 0) == 0) name.insert(2, "    ");
    const std::vector<std::string> lines =
        wrapped(option->get_description(), kHelpWidth - kHelpIndent);
    std::string text;
    if (name.size() + 1 > kHelpIndent) {
      text = name + '\n';
      name.clear();
    }
    for (const std::string& line : lines) {
      text += fmt::format("{:<{}}{}\n", name, kHelpIndent, line);
      name.clear();
    }
    return text;
  }

  std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
    if (is_positional) return option->get_name(true, false);
    std::string name;
    for (const std::string& one : option->get_snames()) name += fmt::format("-{}, ", one);
    for (const std::string& one : option->get_lnames()) name += fmt::format("--{}", one);
    return name;
  }

  std::string make_group(std::string group, bool is_positional,
                         std::vector<const CLI::Option*> options) const override {
    std::string text = fmt::format("{}{}:\n", is_positional ? "\n" : "", group);
    for (const CLI::Option* option : options) text += make_option(option, is_positional);
    return text + (is_positional ? "\n" : "");
  }

  std::string make_usage(const CLI::App* /*app*/, std::string /*name*/) const override {
    return fmt::format("Usage: {}\n", usage_);
  }

 private:
  std::string usage_;
};

/// What other programs call an option.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kOtherNames = {
    {{"--fill", "--flat"},
     {"--preset", "--config"},
     {"--superpixels", "--regions"},
     {"--segments", "--regions"},
     {"--clusters", "--regions"}}};

/// ": did you mean --regions?", or nothing when no option is near.
std::string suggestion(const CLI::App& app, const std::string& unknown) {
  const std::string name = unknown.substr(0, unknown.find('='));
  for (const auto& [other, own] : kOtherNames) {
    if (name == other && app.get_option_no_throw(std::string(own)) != nullptr) {
      return fmt::format(": did you mean {}?", own);
    }
  }
  std::string nearest;
  std::pair<std::size_t, std::size_t> least = {std::max<std::size_t>(2, name.size() / 3) + 1, 0};
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& candidate : option->get_lnames()) {
      const std::string flag = "--" + candidate;
      // An option that is cut short or goes on counts as nearest.
      const bool begins = name.size() > 3 && (flag.rfind(name, 0) == 0 || name.rfind(flag, 0) == 0);
      const std::size_t edits = edit_distance(name, flag);
      const std::pair distance(begins ? 0 : edits, edits);
      if (distance < least) {
        least = distance;
        nearest = flag;
      }
    }
  }
  return nearest.empty() ? std::string() : fmt::format(": did you mean {}?", nearest);
}

}  // namespace

namespace {

/// Throws ConfigError for an option that begins with a dash that pages of text have for a hyphen.
void check_dashes(const CommandLine& line, const std::vector<std::string>& arguments) {
  for (const std::string& each : arguments) {
    if (each == "--") return;
    // U+2010 to U+2015, and the minus sign.
    const std::string dash = each.substr(0, 3);
    const bool is_dash =
        (dash >= "\xE2\x80\x90" && dash <= "\xE2\x80\x95") || dash == "\xE2\x88\x92";
    if (!is_dash || std::filesystem::exists(each)) continue;
    line.fail(
        fmt::format("there is no option '{}': it begins with a dash that is no hyphen; "
                    "options begin with two hyphens (--)",
                    each));
  }
}

}  // namespace

CommandLine::CommandLine(const std::string& name, const std::string& description,
                         const std::string& usage, const std::string& inputs,
                         const std::string& examples)
    : app_(std::make_unique<CLI::App>(description, name)) {
  app_->formatter(std::make_shared<HelpFormatter>(usage));
  app_->get_formatter()->label("Positionals", inputs);
  app_->footer(examples);
  app_->set_help_flag();
  app_->allow_extras();
}

CommandLine::~CommandLine() = default;

void CommandLine::inputs(const char* name, std::vector<std::string>& values, const char* meaning,
                         const Values& offered) {
  app_->add_option(name, values, meaning);
  offered_[name] = offered;
}

template <class Value>
void CommandLine::option(const std::string& names, Value& value, const std::string& type,
                         const char* group, const std::string& meaning, const Values& offered,
                         bool may_be_empty) {
  CLI::Option* option = app_->add_option(names, value, meaning)->type_name(type)->group(group);
  if constexpr (std::is_same_v<Value, std::vector<std::string>>) {
    // What follows a value is an input.
    option->allow_extra_args(false)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }
  if (std::is_same_v<Value, std::string> && !may_be_empty) texts_.push_back(option);
  offered_["--" + option->get_lnames().front()] = offered;
}

template void CommandLine::option(const std::string&, int&, const std::string&, const char*,
                                  const std::string&, const Values&, bool);
template void CommandLine::option(const std::string&, double&, const std::string&, const char*,
                                  const std::string&, const Values&, bool);
template void CommandLine::option(const std::string&, std::string&, const std::string&, const char*,
                                  const std::string&, const Values&, bool);
template void CommandLine::option(const std::string&, std::optional<int>&, const std::string&,
                                  const char*, const std::string&, const Values&, bool);
template void CommandLine::option(const std::string&, std::optional<std::string>&,
                                  const std::string&, const char*, const std::string&,
                                  const Values&, bool);
template void CommandLine::option(const std::string&, std::vector<std::string>&, const std::string&,
                                  const char*, const std::string&, const Values&, bool);

void CommandLine::flag(const char* names, bool& value, const char* group,
                       const std::string& meaning) {
  app_->add_flag(names, value, meaning)->group(group)->disable_flag_override();
}

void CommandLine::message_flags(const char* quiet, const char* verbose, bool version) {
  flag("-q,--quiet", quiet_, kMessages, quiet);
  flag("-v,--verbose", verbose_, kMessages, verbose);
  exclude("--quiet", {"--verbose"});
  flag("--timestamps", timestamps_, kMessages, "Begin each message with the time, in UTC");
  if (version) {
    app_->set_version_flag("--version", version_text(app_->get_name()),
                           "Print the version and exit")
        ->group(kMessages);
  }
  app_->set_help_flag("-h,--help", brief_.empty() ? "Print this help and exit"
                                                  : "Print a screen of help and exit; --help all: "
                                                    "all options")
      ->group(kMessages);
}

void CommandLine::need(const char* needed, std::initializer_list<const char*> options) {
  for (const char* name : options) {
    rules_.push_back({app_->get_option(name), app_->get_option(needed), true});
  }
}

void CommandLine::exclude(const char* option, std::initializer_list<const char*> others) {
  for (const char* name : others) {
    rules_.push_back({app_->get_option(option), app_->get_option(name), false});
    rules_.push_back({app_->get_option(name), app_->get_option(option), false});
  }
}

bool CommandLine::given(const std::string& option) const {
  return app_->get_option(option)->count() > 0;
}

CommandDescription CommandLine::describe() const { return app::describe(*app_, offered_); }

void CommandLine::check_rules() const {
  for (const CLI::Option* option : app_->get_options()) {
    if (option->count() == 0) continue;
    for (const Rule& rule : rules_) {
      if (rule.option != option || (rule.other->count() > 0) == rule.given) continue;
      fail(fmt::format(
          fmt::runtime(rule.given ? "{} has no effect without {}: add it"
                                  : "{} and {} exclude each other: leave out one of them"),
          option->get_name(), rule.other->get_name()));
    }
  }
}

bool CommandLine::parse(int argc, const char* const* argv, Console& console) {
  std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  const bool all = brief_.empty() || (arguments.size() > 1 && arguments.back() == "all");
  if (arguments.empty() && !all) write_file("-", brief_);
  try {
    check_dashes(*this, arguments);
    std::reverse(arguments.begin(), arguments.end());  // As CLI11 takes them.
    app_->parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    write_file("-", all ? app_->help() : brief_);
    return false;
  } catch (const CLI::CallForVersion& version) {
    write_file("-", version.what());
    return false;
  } catch (const CLI::ParseError& error) {
    fail(reworded(error));
  }
  check_rules();
  for (const std::string& extra : app_->remaining()) {
    if (extra == "--") continue;  // CLI11 took the arguments after it as inputs.
    fail(fmt::format("there is no option '{}'{}", extra, suggestion(*app_, extra)));
  }
  for (const CLI::Option* text : texts_) {
    if (text->count() == 0 || !text->as<std::string>().empty()) continue;
    fail(text->get_name() + " has an empty value; it needs a text");
  }
  console.set_timestamps(timestamps_);
  console.set_verbosity(quiet_     ? Verbosity::kQuiet
                        : verbose_ ? Verbosity::kVerbose
                                   : Verbosity::kNormal);
  return true;
}

void CommandLine::fail(std::string_view message) const { fail_usage(app_->get_name(), message); }

void fail_usage(std::string_view program, std::string_view message) {
  throw ConfigError(fmt::format("{} (see {} --help)", message, program));
}

std::string reworded(const CLI::ParseError& error) {
  std::string text = error.what();
  const std::string name = text.substr(0, text.find(':'));
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    if (text.find("flag override") != std::string::npos) {
      return fmt::format("--{} takes no value", text.substr(0, text.find(' ')));
    }
    if (text.find("missing") != std::string::npos) return name + " needs a value";
    if (text.find("At Most") != std::string::npos) return name + " is given more than once";
  }
  return text;
}

std::string version_text(const std::string& name) {
  return fmt::format("{} (diacut) {}\n", name, kVersion);
}

}  // namespace diacut::app
