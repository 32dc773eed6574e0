#pragma once

#include <gtest/gtest.h>

#include "answers/trial.hpp"
#include "support.hpp"

namespace diacut::testing {

/// Runs a check of lib/judge/doctor or of known_answers.hpp with a trial of its own, so with the
/// same numbers whatever was drawn before. Expects that it throws nothing and, in a context that
/// guards its allocations, that no kernel writes beyond a buffer.
template <class Check>
void expect_right(Context& context, const Check& check) {
  Trial trial(context);
  EXPECT_NO_THROW({
    check(trial);
    trial.require_bounds();
  });
}

/// Tests in a context that guards its allocations: no kernel writes beyond a buffer.
class GuardedTest : public ::testing::Test {
 protected:
  GuardedTest() { context_.guard_allocations(); }
  void TearDown() override { EXPECT_NO_THROW(trial_.require_bounds()); }

  template <class Check>
  void expect_right(const Check& check) {
    testing::expect_right(context_, check);
  }

  Context context_{test_device()};
  Trial trial_{context_};
};

}  // namespace diacut::testing
