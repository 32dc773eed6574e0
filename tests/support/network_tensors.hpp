#pragma once

#include <cstddef>
#include <limits>
#include <random>
#include <vector>

#include "boundary/network/convolutions.hpp"
#include "boundary/network/network.hpp"
#include "boundary/network/reference_network.hpp"
#include "opencl/context.hpp"

namespace diacut::testing {

inline constexpr double kEpsilon = std::numeric_limits<float>::epsilon();

/// Widths and heights of tensors, awkward ones among them.
inline constexpr int kTensorSizes[][2] = {{1, 1},  {1, 7},  {7, 1},   {2, 2},
                                          {15, 3}, {16, 2}, {17, 13}, {97, 11}};

/// A tensor of normally distributed floats.
ReferenceTensor random_tensor(int channels, int width, int height, std::mt19937& random);

/// A tensor in the layout that kernels read, with zeros all around.
std::vector<double> elements_of(const ReferenceTensor& tensor, const NetworkPlanes& planes);
/// Its floats.
std::vector<float> laid_out(const ReferenceTensor& tensor, const NetworkPlanes& planes);

/// A tensor of the absolute values.
ReferenceTensor magnitudes(ReferenceTensor tensor);

/// A convolution with random inputs, weights and biases.
struct ConvolutionCase {
  int inputs = 0;          ///< Channels of the input.
  ConvolutionShape shape;  ///< `inputs` of it is the number above.
  bool add = false;        ///< Whether a tensor is added.
  int width = 1;
  int height = 1;
};

/// A convolution, what it computes, and how far each value may be off by the roundings of its sums.
struct ConvolutionProblem {
  ConvolutionCase convolution;
  NetworkPlanes from;  ///< The layout of the input.
  NetworkPlanes to;    ///< The layout of the result.
  NetworkOp op;
  ReferenceTensor input;
  ReferenceTensor added;
  ReferenceTensor expected;
  ReferenceTensor allowed;

  explicit ConvolutionProblem(const ConvolutionCase& wanted);

  /// Enqueues the convolution by the kernel for it. `in` and `added_tensor`, which may be null, are
  /// the input and what is added in their layouts. `tile` is the way in which the kernel divides
  /// the work; null: the one that the library chooses. It must be null for a depthwise convolution
  /// and for one with strides.
  void launch(Context& context, const Buffer<float>& in, const Buffer<float>* added_tensor,
              const ConvolutionTile* tile, Buffer<float>& out) const;
};

/// The picture that a network is given for an image: three planes of (width + 2 border) *
/// (height + 2 border) values in [0, 1]; a grey image gives three equal planes. OpenCV resizes the
/// image to width * height pixels (to shrink, by the mean over areas; to enlarge, by cubic
/// convolution), and mirrors it beyond its edges by `border` pixels. Pixels without data count as
/// the others do.
std::vector<float> reference_picture(const Image& image, int width, int height, int border = 0);

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
