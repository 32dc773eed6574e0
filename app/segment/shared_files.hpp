#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "annotate.hpp"
#include "diacut/annotations.hpp"
#include "results.hpp"

namespace diacut::app {

/// An image's parts of the files of a whole run.
using RunParts = std::vector<std::pair<Result, AnnotationPart>>;

/// The parts of the files that `roots` name for a whole run. `name`: what annotations call the
/// image; `file` and `page`: what tables do.
RunParts run_parts(const Places& roots, const Annotations& annotations, const std::string& name,
                   const std::string& file, std::int64_t number, int page);

/// The files of annotations that all images of a batch share. They are there when the run has come
/// to its end, with the images that did not fail; without commit(), or without an image, they are
/// not.
class SharedFiles {
 public:
  /// Begins the files that are named for a whole run; none where `batch` is false. Throws
  /// InputError.
  SharedFiles(const Places& roots, const AnnotationStyle& style, bool batch);

  /// Adds the parts of an image. Throws InputError where a table has other columns.
  void add(const RunParts& parts);
  void commit();

 private:
  const Places& roots_;
  std::vector<std::pair<Result, AnnotationFile>> files_;
  std::size_t images_ = 0;
};

}  // namespace diacut::app
