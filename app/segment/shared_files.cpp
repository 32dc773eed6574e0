#include "shared_files.hpp"

#include "annotate.hpp"

namespace diacut::app {

SharedFiles::SharedFiles(const Options& options, const Plan& plan) {
  if (!plan.batch) return;
  for (const ResultInfo& info : kResults) {
    const std::string& place = plan.roots.results[info.result];
    if (!info.of_run || place.empty()) continue;
    files_.emplace_back(info.result,
                        AnnotationFile(place, annotation_format(info.result, options.rle).value()));
  }
}

void SharedFiles::add(const std::vector<std::pair<Result, AnnotationPart>>& parts) {
  for (std::size_t i = 0; i < parts.size(); ++i) files_[i].second.add(parts[i].second);
  ++images_;
}

void SharedFiles::commit() {
  if (images_ == 0) return;
  for (auto& [result, file] : files_) file.commit();
}

}  // namespace diacut::app
