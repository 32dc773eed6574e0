#pragma once

#include "diacut/sparse.hpp"
#include "opencl/context.hpp"
#include "support.hpp"

namespace diacut::testing {

/// One context on the test device for all tests that ask for it, so that programs are built once.
/// It guards its allocations. It is never destroyed: drivers may be gone before static objects are.
inline Context& context() {
  static auto* const shared = [] {
    auto* const made = new Context(test_device());
    made->guard_allocations();
    return made;
  }();
  return *shared;
}

/// One queue on the test device for all tests that ask for it. It is never destroyed, as context().
inline DeviceQueue& queue() {
  static auto* const shared = new DeviceQueue(test_device());
  return *shared;
}

}  // namespace diacut::testing
