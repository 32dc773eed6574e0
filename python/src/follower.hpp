#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>

#include <chrono>
#include <exception>
#include <functional>
#include <string_view>
#include <utility>

#include "diacut/progress.hpp"
#include "released.hpp"

namespace diacut::python {

namespace nb = nanobind;

/// Follows work that runs without the interpreter's lock: reports its progress to a Python
/// callable, and stops it when that callable raises or a signal's handler does, as that of Ctrl-C
/// raises KeyboardInterrupt.
class Follower {
 public:
  /// `progress`: None, or what is called with a stage's name and the share of it that is done.
  explicit Follower(nb::object progress) : progress_(std::move(progress)) {}

  /// How the library watches the work. Lives as long as the Follower.
  Watch watch() {
    return {[this](std::string_view stage, double share) { report(stage, share); }, &cancel_,
            [this] {
              if (Clock::now() >= next_) tell([] {});
            }};
  }

  /// Looks for signals and reports progress. Called without the interpreter's lock.
  void report(std::string_view stage, double share) {
    const bool is_end = share <= 0 || share >= 1;
    if (Clock::now() < next_ && (progress_.is_none() || !is_end)) return;
    tell([&] {
      if (!progress_.is_none()) progress_(stage, share);
    });
  }

  /// Raises again what was raised while the work ran. Called with the interpreter's lock.
  void rethrow() const {
    if (raised_) std::rethrow_exception(raised_);
  }

  const CancelToken& cancel() const { return cancel_; }

 private:
  using Clock = std::chrono::steady_clock;

  /// Looks for signals and calls `what`, both with the interpreter's lock.
  void tell(const std::function<void()>& what) {
    // Taking the interpreter's lock may take long while another thread has it.
    constexpr auto kPause = std::chrono::milliseconds(50);
    next_ = Clock::now() + kPause;
    if (is_ending()) return cancel_.cancel();
    const nb::gil_scoped_acquire lock;
    if (raised_) return;
    try {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      what();
    } catch (...) {
      raised_ = std::current_exception();
      cancel_.cancel();
    }
  }

  nb::object progress_;
  CancelToken cancel_;
  std::exception_ptr raised_;
  Clock::time_point next_ = Clock::now();
};

/// What `work(follower)` returns, run without the interpreter's lock. Raises what the callable or a
/// signal's handler raised meanwhile.
template <class Work>
auto follow(nb::object progress, Work work) {
  Follower follower(std::move(progress));
  try {
    auto result = [&] {
      const Released release;
      return work(follower);
    }();
    follower.rethrow();
    return result;
  } catch (const CancelledError&) {
    follower.rethrow();
    throw;
  }
}

}  // namespace diacut::python
