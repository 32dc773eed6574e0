#pragma once

#include <mutex>
#include <string>

#include "diacut/sparse.hpp"
#include "opencl/context.hpp"

namespace diacut {

/// What copies of a DeviceQueue share. Who uses the context holds `turn`.
struct DeviceQueue::State {
  State(const std::string& device, const std::string& kernel_dir) : context(device, kernel_dir) {}
  State(const cl::Context& of, const cl::Device& device) : context(of, device) {}

  Context context;
  std::recursive_mutex turn;
  double copy = 0;  ///< GB/s of a copy, once it was measured.
};

}  // namespace diacut
