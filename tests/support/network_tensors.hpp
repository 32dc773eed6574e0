#pragma once

#include <vector>

#include "boundary/network/convolutions.hpp"
#include "diacut/image.hpp"
#include "opencl/context.hpp"

namespace diacut::testing {

/// Widths and heights of tensors, awkward ones among them.
inline constexpr int kTensorSizes[][2] = {{1, 1},  {1, 7},  {7, 1},   {2, 2},
                                          {15, 3}, {16, 2}, {17, 13}, {97, 11}};

/// A convolution with random inputs, weights and biases.
struct ConvolutionCase {
  int inputs = 0;          ///< Channels of the input.
  ConvolutionShape shape;  ///< `inputs` of it is the number above.
  bool add = false;        ///< Whether a tensor is added.
  int width = 1;
  int height = 1;
};

/// Expects of the kernel for a convolution what plain loops in double give, within the roundings of
/// its sums, and zeros all around the result. `tile` is the way in which the kernel divides the
/// work; null: the one that the library chooses. It must be null for a depthwise convolution and
/// for one with strides.
void expect_convolution(Context& context, const ConvolutionCase& convolution,
                        const ConvolutionTile* tile = nullptr);

/// The picture that a network is given for an image: three planes of (width + 2 border) *
/// (height + 2 border) values in [0, 1]; a grey image gives three equal planes. OpenCV resizes the
/// image to width * height pixels (to shrink, by the mean over areas; to enlarge, by cubic
/// convolution), and mirrors it beyond its edges by `border` pixels. Pixels without data count as
/// the others do.
std::vector<float> reference_picture(const Image& image, int width, int height, int border = 0);

}  // namespace diacut::testing
