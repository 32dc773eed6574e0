#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "doctor/trial.hpp"

namespace diacut::testing {

using diacut::Guarded;

/// Expects that no element is NaN: every one was written, from nothing that was out of bounds.
inline void expect_numbers(const std::vector<float>& values) {
  std::size_t missing = 0;
  for (const float value : values) missing += std::isnan(value) ? 1 : 0;
  EXPECT_EQ(missing, 0u) << "of " << values.size() << " elements are not numbers";
}

}  // namespace diacut::testing
