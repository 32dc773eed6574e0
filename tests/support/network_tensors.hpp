#pragma once

#include <cstddef>
#include <limits>
#include <random>
#include <vector>

#include "boundary/network/conv.hpp"
#include "boundary/network/planes.hpp"
#include "boundary/network/reference_network.hpp"
#include "opencl/context.hpp"

namespace diacut::testing {

inline constexpr double kEpsilon = std::numeric_limits<float>::epsilon();

/// Widths and heights of tensors, awkward ones among them.
inline constexpr int kTensorSizes[][2] = {{1, 1},  {1, 7},  {7, 1},   {2, 2},
                                          {15, 3}, {16, 2}, {17, 13}, {97, 11}};

/// A tensor of normally distributed floats.
ReferenceTensor random_tensor(int channels, int width, int height, std::mt19937& random);

/// Normally distributed floats.
std::vector<float> random_values(std::size_t count, std::mt19937& random);

/// The floats of a tensor in the layout that kernels read.
std::vector<float> laid_out(const ReferenceTensor& tensor, const NetworkPlanes& planes);

/// A tensor of the absolute values.
ReferenceTensor magnitudes(ReferenceTensor tensor);

/// Expects each value of a tensor within `allowed` of the expected one, and zeros all around the
/// image.
void expect_tensor(const std::vector<float>& found, const NetworkPlanes& planes,
                   const ReferenceTensor& expected, const ReferenceTensor& allowed);

/// A convolution with random inputs, weights and biases.
struct ConvolutionCase {
  std::vector<int> inputs;  ///< The channels of each input tensor.
  ConvolutionShape shape;   ///< `inputs` of it is the sum of the channels above.
  bool add = false;         ///< Whether a tensor is added.
  int width = 1;
  int height = 1;
  bool depthwise = false;
};

/// Expects of the kernel for a convolution what plain loops in double give, within the roundings of
/// its sums. `tile` is the way in which the kernel divides the work; null: the one that the library
/// chooses. It must be null for a depthwise convolution.
void expect_convolution(Context& context, ConvolutionCase convolution,
                        const ConvolutionTile* tile = nullptr);

}  // namespace diacut::testing
