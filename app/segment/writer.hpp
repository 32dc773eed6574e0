#pragma once

#include <cstdint>
#include <deque>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "annotate.hpp"
#include "diacut/progress.hpp"
#include "diacut/segmenter.hpp"
#include "exit_code.hpp"
#include "memory_check.hpp"
#include "options.hpp"
#include "plan.hpp"
#include "reader.hpp"
#include "stacks.hpp"

namespace diacut::app {

/// A segmentation whose results are written, or why they are not.
struct WrittenImage {
  const Job* job = nullptr;
  std::unique_ptr<Segmentation> result = std::make_unique<Segmentation>();  ///< Never null.
  /// What files call each region of the result, from region 1 on; empty: by its number.
  std::vector<std::int32_t> seed_labels = {};
  std::string report = {};  ///< As report_json() makes it; empty if no report is wanted.
  std::optional<Failure> failure = {};
  double seconds = 0;  ///< How long all work on the image took.
  /// The image's parts of files of the whole run.
  RunParts parts = {};
  LinkedThings linked = {};  ///< That are new on this page, with --link.
  bool damaged = false;      ///< Whether the image's file is, as --damaged allows.
  PictureFacts facts;        ///< Of the image's file, if labels keep them.
};

/// Writes the results of a job, that of `loaded`, and makes their folders. `cut`: what a page shows
/// at first.
void write_results(const Options& options, const RegionParameters& cut, const LoadedImage& loaded,
                   WrittenImage& written, const Annotations& annotations);

/// Finishes segmentations on the host and writes their results, in other threads or in the
/// caller's. Its destructor waits for those under way.
class Writer {
 public:
  /// The arguments must outlive the writer. `cancel` stops the work in other threads. `memory` is
  /// asked what was announced for several images together.
  Writer(const Options& options, const Plan& plan, const CancelToken& cancel,
         const MemoryCheck& memory);

  /// Finishes a segmentation and writes its results. `segmenter` began it. `before`: ends with the
  /// work on the image before it; not valid: that has ended.
  WrittenImage write(const LoadedImage& loaded, BegunSegmentation begun, const Segmenter& segmenter,
                     const Watch& watch, const std::shared_future<void>& before = {});

  /// Begins to do the work of write() in another thread. `segmenter` must outlive that thread.
  void begin(LoadedImage loaded, BegunSegmentation begun, const Segmenter& segmenter);

  /// Waits for the image that was begun first; nothing if none is under way.
  std::optional<WrittenImage> next();

 private:
  const Options& options_;
  const Plan& plan_;
  const CancelToken& cancel_;
  const MemoryCheck& memory_;
  std::shared_future<void> last_;  ///< Ends with the work on the image that was begun last.
  PageLinks links_;
  // Last, because its threads use the others to the end.
  std::deque<std::future<WrittenImage>> under_way_;
};

}  // namespace diacut::app
