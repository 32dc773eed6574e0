#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "diacut/annotations.hpp"
#include "options.hpp"
#include "plan.hpp"
#include "results.hpp"

namespace diacut::app {

/// The files of annotations that all images of a batch share. They are there when the run has come
/// to its end, with the images that did not fail; without commit(), or without an image, they are
/// not.
class SharedFiles {
 public:
  /// Begins the files that the plan names. Throws InputError.
  SharedFiles(const Options& options, const Plan& plan);

  /// Adds the parts of an image.
  void add(const std::vector<std::pair<Result, AnnotationPart>>& parts);
  void commit();

 private:
  std::vector<std::pair<Result, AnnotationFile>> files_;
  std::size_t images_ = 0;
};

}  // namespace diacut::app
