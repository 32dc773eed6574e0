#include "results.hpp"

#include <filesystem>

#include "core/split_text.hpp"
#include "paths.hpp"

namespace diacut::app {

std::vector<std::string> extensions_in(const char* list) {
  const std::vector<std::string_view> parts = split_text(list, ' ');
  return {parts.begin(), parts.end()};
}

Values files_of(const std::string& extensions) {
  if (extensions.empty()) return {};
  return {.files = true, .extensions = extensions_in(extensions.c_str())};
}

void declare_result(CommandLine& line, Result result, Places& places, const char* group,
                    const char* meaning) {
  const ResultInfo& info = info_of(result);
  const char* type = result == Result::kLabels         ? "FILE|DIR|-"
                     : result == Result::kEigenvectors ? "DIR"
                     : info.span == Span::kRun         ? "FILE"
                                                       : "FILE|DIR";
  line.option(result == Result::kLabels ? "-o,--output" : info.option, places[result], type, group,
              meaning != nullptr ? meaning : info.meaning, files_of(info.extensions));
}

std::vector<NamedResult> named(const Places& places) {
  std::vector<NamedResult> found;
  for (const ResultInfo& info : kResults) {
    if (places.has(info.result)) found.push_back({info, places[info.result]});
  }
  return found;
}

bool NamedResult::of_run() const {
  const bool is_file = std::filesystem::path(place).has_extension() && !is_folder(place);
  return info.span == Span::kRun || (info.span == Span::kEither && is_file);
}

}  // namespace diacut::app
