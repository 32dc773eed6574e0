#include "follower.hpp"

#include <nanobind/stl/string_view.h>

namespace diacut::python {

Watch Follower::watch() {
  return {[this](std::string_view stage, double share) { report(stage, share); }, &cancel_,
          [this] { look(); }};
}

void Follower::look() {
  if (Clock::now() >= next_) tell([] {});
}

void Follower::report(std::string_view stage, double share) {
  const bool is_end = share <= 0 || share >= 1;
  if (Clock::now() < next_ && (progress_.is_none() || !is_end)) return;
  tell([&] {
    if (!progress_.is_none()) progress_(stage, share);
  });
}

void Follower::tell(const std::function<void()>& what) {
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

}  // namespace diacut::python
