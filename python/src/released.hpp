#pragma once

#include <nanobind/nanobind.h>

#include <optional>

namespace diacut::python {

namespace nb = nanobind;

/// Work without the interpreter's lock. At the interpreter's end a thread that wants the lock back
/// would be ended in the middle of C++: a thread that has no turn any more sleeps here instead, for
/// the short rest of the process.
class Released {
 public:
  Released();
  Released(const Released&) = delete;
  Released& operator=(const Released&) = delete;
  ~Released();

 private:
  std::optional<nb::gil_scoped_release> release_;
};

/// Whether the interpreter ends, so that this thread must not take its lock.
bool is_ending();

/// Registers what the interpreter calls at its end: it stops the work of other threads and waits
/// for it.
void register_ending();

}  // namespace diacut::python
