#include "follower.hpp"

#include <nanobind/stl/string_view.h>

namespace diacut::python {

Watch Follower::watch() {
  return {[this](std::string_view stage, double share) { report(stage, share); }, &cancel_};
}

void Follower::report(std::string_view stage, double share) {
  // Taking the interpreter's lock may take long while another thread has it.
  constexpr auto kPause = std::chrono::milliseconds(50);
  const Clock::time_point now = Clock::now();
  const bool is_end = share <= 0 || share >= 1;
  if (now < next_ && (progress_.is_none() || !is_end)) return;
  next_ = now + kPause;
  const nb::gil_scoped_acquire lock;
  if (raised_) return;
  try {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (!progress_.is_none()) progress_(stage, share);
  } catch (...) {
    raised_ = std::current_exception();
    cancel_.cancel();
  }
}

}  // namespace diacut::python
