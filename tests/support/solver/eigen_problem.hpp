#pragma once

#include <cstdint>
#include <vector>

#include "answers/problems.hpp"

namespace diacut {

/// A normalized affinity of a scene of four noisy quadrants, W_ij = exp(-|g_i - g_j| / 0.1) within
/// the stencil. Pixels where `hidden` is not 0 have no data.
struct EigenProblem : MatrixProblem {
  EigenProblem(int width, int height, int radius, double noise = 0.1,
               const std::vector<std::uint8_t>& hidden = {}, const std::vector<int>& strides = {1});
};

}  // namespace diacut
