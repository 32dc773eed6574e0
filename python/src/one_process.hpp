#pragma once

#include <unistd.h>

#include <memory>

#include "diacut/errors.hpp"

namespace diacut::python {

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

 private:
  pid_t process_ = getpid();
  std::unique_ptr<Value> value_;
};

}  // namespace diacut::python
