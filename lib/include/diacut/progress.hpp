#pragma once

#include <atomic>
#include <functional>
#include <string_view>

#include "diacut/errors.hpp"

namespace diacut {

/// Set from any thread, or from a signal handler, to stop the work that holds it. The work throws
/// CancelledError at its next check and leaves nothing behind.
class CancelToken {
 public:
  void cancel() noexcept { cancelled_.store(true, std::memory_order_relaxed); }
  bool cancelled() const noexcept { return cancelled_.load(std::memory_order_relaxed); }
  void throw_if_cancelled() const {
    if (cancelled()) throw CancelledError("interrupted");
  }

 private:
  std::atomic<bool> cancelled_{false};
  static_assert(std::atomic<bool>::is_always_lock_free, "set from a signal handler");
};

/// Told of a stage's progress from the thread that does the work: the stage's name and the share
/// done in [0, 1], which never falls within a stage. Must not throw.
using ProgressFunction = std::function<void(std::string_view stage, double share)>;

/// How a caller watches and stops a stage; both members may be empty.
struct Watch {
  ProgressFunction progress;
  const CancelToken* cancel = nullptr;

  void report(std::string_view stage, double share) const {
    if (cancel != nullptr) cancel->throw_if_cancelled();
    if (progress) progress(stage, share);
  }
};

}  // namespace diacut
