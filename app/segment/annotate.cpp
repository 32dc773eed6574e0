#include "annotate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "diacut/errors.hpp"
#include "diacut/output.hpp"

namespace diacut::app {

namespace fs = std::filesystem;

namespace {

constexpr const char* kGroup = "Annotations and tables";

const ResultInfo& info_of(Result result) { return kResults[static_cast<std::size_t>(result)]; }

const AnnotationOption* find_option(Result result) {
  const auto found =
      std::find_if(kAnnotationOptions.begin(), kAnnotationOptions.end(),
                   [&](const AnnotationOption& option) { return option.result == result; });
  return found == kAnnotationOptions.end() ? nullptr : &*found;
}

}  // namespace

bool is_annotation(Result result) { return find_option(result) != nullptr; }

std::optional<AnnotationFormat> annotation_format(Result result, bool rle) {
  const AnnotationOption* option = find_option(result);
  if (option == nullptr) return std::nullopt;
  return rle && result == Result::kCoco ? AnnotationFormat::kCocoRle : option->format;
}

void declare_annotations(CommandLine& line, Places& places, bool& rle, bool folders) {
  for (const AnnotationOption& option : kAnnotationOptions) {
    const ResultInfo& info = info_of(option.result);
    line.option(info.option, places[option.result], folders && !info.of_run ? "FILE|DIR" : "FILE",
                kGroup, option.meaning);
    if (option.result == Result::kCoco) {
      line.flag("--rle", rle, kGroup, "With --coco: write every region as RLE");
    }
  }
}

void check_annotations(const Places& places, bool rle, bool batch) {
  if (rle && places[Result::kCoco].empty()) {
    throw ConfigError("--rle describes how masks are written to COCO: add --coco FILE");
  }
  const std::string& graph = places[Result::kGraph];
  if (!batch && !graph.empty() && !fs::is_directory(graph)) graph_format(graph);
}

Annotations::Annotations(const Places& wanted, bool rle, const Labels& labels, const Image* image,
                         const Hierarchy* hierarchy)
    : wanted_(wanted), rle_(rle), labels_(labels) {
  if (std::none_of(kAnnotationOptions.begin(), kAnnotationOptions.end(),
                   [&](const AnnotationOption& option) { return wanted.has(option.result); })) {
    return;
  }
  outlines_ = trace_outlines(labels);
  table_ = measure_regions(labels, outlines_, image, hierarchy);
}

std::vector<std::string> Annotations::notes() const {
  std::vector<std::string> notes;
  for (const AnnotationOption& option : kAnnotationOptions) {
    const auto format = annotation_format(option.result, rle_);
    if (!format || wanted_[option.result].empty()) continue;
    for (const std::string& note : annotation_notes(outlines_, *format)) {
      notes.push_back(fmt::format("{}: {}", info_of(option.result).option, note));
    }
  }
  return notes;
}

void Annotations::write(Result result, const std::string& place, const std::string& name) const {
  if (result == Result::kTable) return write_file(place, region_csv(table_));
  if (result == Result::kGraph) return write_file(place, region_graph(table_, graph_format(place)));
  write_annotations(place, annotated(name, 1), annotation_format(result, rle_).value());
}

AnnotationPart Annotations::part(Result result, const std::string& name,
                                 std::int64_t number) const {
  return annotate(annotated(name, number), annotation_format(result, rle_).value());
}

AnnotatedImage Annotations::annotated(const std::string& name, std::int64_t number) const {
  return {name, number, &labels_, &outlines_, &table_};
}

std::string annotated_name(const std::string& input, const std::string& name,
                           const std::string& place) {
  if (input == "-") return "stdin";
  if (place.empty()) return name;
  const fs::path from = fs::absolute(place).lexically_normal().parent_path();
  return fs::absolute(input).lexically_normal().lexically_relative(from).generic_string();
}

}  // namespace diacut::app
