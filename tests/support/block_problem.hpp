#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "doctor/problems.hpp"

namespace diacut::testing {

inline constexpr double kEps = std::numeric_limits<float>::epsilon();

using diacut::at_size;
using diacut::BlockProblem;
using diacut::column_of;
using diacut::reference_interpolation;

/// A problem's matrix compressed to 16 bits, made from that of matrix_of().
struct CompressedProblem : diacut::CompressedProblem {
  CompressedProblem(Context& context, const BlockProblem& problem)
      : diacut::CompressedProblem(context, matrix_of(context, problem), problem) {}
};

/// Normally distributed.
std::vector<float> random_values(std::size_t count, unsigned seed);

/// Expects numbers that are each off by at most so many roundings of `magnitude`.
void expect_near(const std::vector<float>& found, const std::vector<double>& expected,
                 const std::vector<double>& magnitude, double roundings);

}  // namespace diacut::testing
