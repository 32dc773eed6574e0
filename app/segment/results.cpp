#include "results.hpp"

#include <CLI/CLI.hpp>
#include <filesystem>

#include "paths.hpp"

namespace diacut::app {

std::vector<std::string> extensions_in(const char* list) { return CLI::detail::split(list, ' '); }

Values files_of(const char* extensions) {
  Values values{.files = true};
  for (const std::string& each : extensions_in(extensions)) {
    values.extensions.push_back(each.substr(1));
  }
  return values;
}

void declare_result(CommandLine& line, Result result, Places& places, const char* group,
                    const char* meaning) {
  const ResultInfo& info = info_of(result);
  const char* type = result == Result::kLabels         ? "FILE|DIR|-"
                     : result == Result::kEigenvectors ? "DIR"
                     : info.span == Span::kRun         ? "FILE"
                                                       : "FILE|DIR";
  line.option(result == Result::kLabels ? "-o,--output" : info.option, places[result], type, group,
              meaning != nullptr ? meaning : info.meaning);
}

bool ResultInfo::of_run(const std::string& place) const {
  const bool is_file = std::filesystem::path(place).has_extension() && !is_folder(place);
  return span == Span::kRun || (span == Span::kEither && is_file);
}

void describe_places(const CLI::App& app, ValueTable& values) {
  const auto describe = [&](const char* name, const char* extensions) {
    const CLI::Option* option = app.get_option_no_throw(name);
    if (option == nullptr || *extensions == '\0') return;
    values["--" + option->get_lnames().front()] = files_of(extensions);
  };
  for (const ResultInfo& info : kResults) describe(info.option, info.extensions);
  for (const CompanionInfo& info : kCompanions) describe(info.option, info.extensions);
}

}  // namespace diacut::app
