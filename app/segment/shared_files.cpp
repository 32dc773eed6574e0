#include "shared_files.hpp"

namespace diacut::app {

RunParts run_parts(const Places& roots, const Annotations& annotations, const std::string& name,
                   const std::string& file, std::int64_t number, int page) {
  RunParts parts;
  for (const ResultInfo& info : kResults) {
    const std::string& place = roots[info.result];
    if (place.empty() || !info.of_run(place)) continue;
    const bool table = info.result == Result::kTable;  // Which has a column for pages.
    parts.emplace_back(
        info.result, annotations.part(info.result, table ? file : name, number, table ? page : 0));
  }
  return parts;
}

SharedFiles::SharedFiles(const Places& roots, const AnnotationStyle& style, bool batch)
    : roots_(roots) {
  if (!batch) return;
  const RegionClasses classes = classes_of(style);
  for (const ResultInfo& info : kResults) {
    const std::string& place = roots[info.result];
    if (place.empty() || !info.of_run(place)) continue;
    files_.emplace_back(info.result,
                        AnnotationFile(place, annotation_format(info.result, style.rle), classes));
  }
}

void SharedFiles::add(const RunParts& parts) {
  // Tables may refuse a part, and come first: then no file has the image.
  for (const bool table : {true, false}) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if ((parts[i].first == Result::kTable) == table) files_[i].second.add(parts[i].second);
    }
  }
  ++images_;
}

void SharedFiles::commit() {
  if (images_ == 0) return;
  for (auto& [result, file] : files_) file.commit();
}

}  // namespace diacut::app
