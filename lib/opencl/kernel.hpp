#pragma once

#include <memory>
#include <string>
#include <utility>

#include "opencl/cl.hpp"

namespace diacut {

class Context;

/// A kernel of Context::kernel(). Its program is built when the kernel is first used as a
/// cl::Kernel, together with the programs of all kernels that were asked for until then: a driver
/// takes little longer for many than for one. Copies are one kernel with one set of arguments. The
/// context must outlive the first use.
class Kernel {
 public:
  Kernel() = default;

  explicit operator bool() const { return state_ != nullptr; }
  /// Throws DeviceError with the build log where the program does not build.
  operator cl::Kernel&() const;

 private:
  friend class Context;
  struct State {
    Context* context;
    std::pair<std::string, std::string> program;  ///< The kernel file, and the options.
    std::string name;
    cl::Kernel made;
  };
  explicit Kernel(State state) : state_(std::make_shared<State>(std::move(state))) {}

  std::shared_ptr<State> state_;
};

}  // namespace diacut
