#pragma once

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

}  // namespace diacut::testing
