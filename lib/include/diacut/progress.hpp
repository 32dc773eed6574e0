#pragma once

#include <atomic>
#include <functional>
#include <string_view>

#include "diacut/errors.hpp"

/// @file
/// How to watch work under way and stop it.
namespace diacut {

/// Asks work to stop. It may be set from any thread and from a signal handler; the work that was
/// given the token throws CancelledError at its next check and leaves nothing half-written behind.
/// The token must outlive that work.
class CancelToken {
 public:
  /// Asks the work to stop. Once set, a token stays set.
  void cancel() noexcept { cancelled_.store(true, std::memory_order_relaxed); }
  /// Whether the work is to stop.
  bool cancelled() const noexcept { return cancelled_.load(std::memory_order_relaxed); }
  /// Throws CancelledError after cancel().
  void throw_if_cancelled() const {
    if (cancelled()) throw CancelledError("interrupted");
  }

 private:
  std::atomic<bool> cancelled_{false};
  static_assert(std::atomic<bool>::is_always_lock_free, "set from a signal handler");
};

/// Receives a stage's name and the share of it that is done, in [0, 1], which never decreases
/// within a stage. Called from the thread that does the work. It must not throw.
using ProgressFunction = std::function<void(std::string_view stage, double share)>;

/// How a caller watches and stops a stage. All members may be empty.
struct Watch {
  ProgressFunction progress;            ///< Called with the progress; may be empty.
  const CancelToken* cancel = nullptr;  ///< Stops the work; may be null. Not owned.
  /// Called several times a second while the work waits for the device, from the thread that does
  /// the work. It must not throw, and may set the token.
  std::function<void()> waiting = {};

  /// What the work calls from time to time, with a ProgressFunction's arguments. Throws
  /// CancelledError when the work is to stop.
  void report(std::string_view stage, double share) const {
    if (cancel != nullptr) cancel->throw_if_cancelled();
    if (progress) progress(stage, share);
  }
};

}  // namespace diacut
