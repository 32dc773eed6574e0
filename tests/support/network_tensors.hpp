#pragma once

#include <cstddef>
#include <limits>
#include <random>
#include <vector>

#include "doctor/network_problems.hpp"

namespace diacut::testing {

inline constexpr double kEpsilon = std::numeric_limits<float>::epsilon();

/// Widths and heights of tensors, awkward ones among them.
inline constexpr int kTensorSizes[][2] = {{1, 1},  {1, 7},  {7, 1},   {2, 2},
                                          {15, 3}, {16, 2}, {17, 13}, {97, 11}};

using diacut::ConvolutionCase;
using diacut::laid_out;
using diacut::magnitudes;
using diacut::random_tensor;

/// Normally distributed floats.
std::vector<float> random_values(std::size_t count, std::mt19937& random);

/// Expects each value of a tensor within `allowed` of the expected one, and zeros all around the
/// image.
void expect_tensor(const std::vector<float>& found, const NetworkPlanes& planes,
                   const ReferenceTensor& expected, const ReferenceTensor& allowed);

/// Expects of the kernel for a convolution what plain loops in double give, within the roundings of
/// its sums. `tile` is the way in which the kernel divides the work; null: the one that the library
/// chooses. It must be null for a depthwise convolution.
void expect_convolution(Context& context, const ConvolutionCase& convolution,
                        const ConvolutionTile* tile = nullptr);

}  // namespace diacut::testing
