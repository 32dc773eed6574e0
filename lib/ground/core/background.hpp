#pragma once

#include <future>
#include <utility>

namespace diacut {

/// Marks the calling thread, to its end, as one of those that get ready for the threads that feed
/// the device, or finish what these began. Many of them, as of a group of images, leave the cores
/// to those: they have a lower priority, and parallel_for() computes on each of them alone.
class InBackground {
 public:
  InBackground();
  InBackground(const InBackground&) = delete;
  InBackground& operator=(const InBackground&) = delete;
  ~InBackground();
};

/// Begins work on a thread of its own in the background. `work` is called once.
template <class Work>
auto in_background(Work work) {
  return std::async(std::launch::async, [work = std::move(work)]() mutable {
    const InBackground background;
    return work();
  });
}

}  // namespace diacut
