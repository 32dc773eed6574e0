#include "linked_pages.hpp"

namespace diacut::app {

void LinkedPages::link(const Job& job, Segmentation& result) {
  if (!least_) return;
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [&] { return turn_ == job.number; });
  if (file_ != job.input || !linker_) {
    file_ = job.input;
    linker_ = std::make_unique<PageLinker>(*least_);
  }
  result.seed_labels = linker_->link(result.labels, result.notes);
}

void LinkedPages::end_turn(const Job& job) {
  if (!least_) return;
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [&] { return turn_ == job.number; });
  ++turn_;
  ended_.notify_all();
}

}  // namespace diacut::app
