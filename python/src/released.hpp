#pragma once

#include <nanobind/nanobind.h>
#include <unistd.h>

#include <memory>
#include <optional>

#include "diacut/errors.hpp"

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

/// Called before each use of OpenCL. Throws DeviceError in a process that was forked from one that
/// had used it: OpenCL's threads are missing there, and calls would wait for them for ever.
void check_process();

/// What uses OpenCL. In a process that was forked from its own it is never destroyed, which would
/// wait for OpenCL's threads.
template <class Value>
class OfOneProcess {
 public:
  OfOneProcess() = default;
  OfOneProcess(const OfOneProcess&) = delete;
  OfOneProcess& operator=(const OfOneProcess&) = delete;
  ~OfOneProcess() {
    if (getpid() != process_) static_cast<void>(value_.release());
  }

  template <class... Arguments>
  void emplace(Arguments&&... arguments) {
    value_ = std::make_unique<Value>(std::forward<Arguments>(arguments)...);
  }
  Value* operator->() const { return value_.get(); }
  Value& operator*() const { return *value_; }

 private:
  pid_t process_ = getpid();
  std::unique_ptr<Value> value_;
};

}  // namespace diacut::python
