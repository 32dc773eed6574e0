#pragma once

#include <condition_variable>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "annotate.hpp"
#include "diacut/label_stack.hpp"
#include "diacut/progress.hpp"
#include "diacut/segmenter.hpp"
#include "exit_code.hpp"
#include "memory_check.hpp"
#include "options.hpp"
#include "plan.hpp"
#include "reader.hpp"

namespace diacut::app {

/// Lets the regions of a file's pages have the numbers of the page before, though pages are
/// finished side by side: each waits for its turn, in the order of the jobs.
class LinkedPages {
 public:
  /// `least`: the least overlap; empty: pages are not linked, and nobody waits.
  explicit LinkedPages(std::optional<double> least) : least_(least) {}

  /// The turn of a job, which ends with the object, whatever becomes of the job.
  class Turn {
   public:
    Turn(LinkedPages& pages, const Job& job) : pages_(pages), job_(job) {}
    ~Turn() {
      if (!pages_.least_) return;
      const auto lock = await();
      ++pages_.turn_;
      pages_.ended_.notify_all();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    /// Sets result.seed_labels to the numbers of the regions. Throws InputError.
    void link(Segmentation& result) {
      if (!pages_.least_) return;
      const auto lock = await();
      if (pages_.file_ != job_.input || !pages_.linker_) {
        pages_.file_ = job_.input;
        pages_.linker_ = std::make_unique<PageLinker>(*pages_.least_);
      }
      result.seed_labels = pages_.linker_->link(result.labels, result.notes);
    }

   private:
    std::unique_lock<std::mutex> await() const {
      std::unique_lock lock(pages_.mutex_);
      pages_.ended_.wait(lock, [&] { return pages_.turn_ == job_.number; });
      return lock;
    }

    LinkedPages& pages_;
    const Job& job_;
  };

 private:
  std::optional<double> least_;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::int64_t turn_ = 1;  ///< The number of the job whose turn it is.
  std::string file_;
  std::unique_ptr<PageLinker> linker_;
};

/// A segmentation whose results are written, or why they are not.
struct WrittenImage {
  Segmentation result;
  std::string report;  ///< As report_json() makes it; empty if no report is wanted.
  std::optional<Failure> failure;
  double seconds = 0;  ///< How long all work on the image took.
  /// The image's parts of files of the whole run.
  RunParts parts = {};
  PictureFacts facts = {};  ///< Of the image's file, if labels keep them.
};

/// Writes the results of a job. `cut`: what a page shows at first. `batch`: whether folders are
/// made for them.
void write_results(const Options& options, const RegionParameters& cut, bool batch, const Job& job,
                   const LoadedImage& loaded, Segmentation& result, const Annotations& annotations);

/// Finishes segmentations on the host and writes their results, in other threads or in the
/// caller's. Its destructor waits for those under way.
class Writer {
 public:
  /// The arguments must outlive the writer. `cancel` stops the work in other threads. `memory` is
  /// asked what was announced for several images together.
  Writer(const Options& options, const Plan& plan, const CancelToken& cancel,
         const MemoryCheck& memory);

  /// Finishes a segmentation and writes its results. `segmenter` began it.
  WrittenImage write(const Job& job, const LoadedImage& loaded, BegunSegmentation begun,
                     const Segmenter& segmenter, const Watch& watch);
  /// Passes over a job that failed before.
  void pass(const Job& job) { LinkedPages::Turn(links_, job); }

  /// Begins to do the work of write() in another thread. `segmenter` must outlive that thread.
  void begin(const Job& job, LoadedImage loaded, BegunSegmentation begun,
             const Segmenter& segmenter);

  /// A job whose results are written.
  struct Done {
    const Job* job = nullptr;
    WrittenImage written;
  };
  /// Waits for the job that was begun first; nothing if none is under way.
  std::optional<Done> next();

 private:
  struct UnderWay {
    const Job* job = nullptr;
    std::future<WrittenImage> written;
  };

  const Options& options_;
  const Plan& plan_;
  const CancelToken& cancel_;
  const MemoryCheck& memory_;
  LinkedPages links_;
  std::deque<UnderWay> under_way_;
};

}  // namespace diacut::app
