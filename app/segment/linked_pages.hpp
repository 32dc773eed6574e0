#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "diacut/label_stack.hpp"
#include "diacut/segmenter.hpp"
#include "plan.hpp"

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
    ~Turn() { pages_.end_turn(job_); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    /// Sets result.seed_labels to the numbers of the regions. Throws InputError.
    void link(Segmentation& result) { pages_.link(job_, result); }

   private:
    LinkedPages& pages_;
    const Job& job_;
  };

 private:
  void link(const Job& job, Segmentation& result);
  void end_turn(const Job& job);

  std::optional<double> least_;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::int64_t turn_ = 1;  ///< The number of the job whose turn it is.
  std::string file_;
  std::unique_ptr<PageLinker> linker_;
};

}  // namespace diacut::app
