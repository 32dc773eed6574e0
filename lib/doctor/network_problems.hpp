#pragma once

#include <random>
#include <vector>

#include "boundary/network/conv.hpp"
#include "boundary/network/planes.hpp"
#include "boundary/network/reference_network.hpp"
#include "diacut/image.hpp"
#include "opencl/context.hpp"

namespace diacut {

/// A picture in colour of patches under noise, with boundaries of every strength; the same in every
/// run.
Image drawn_scene(int width, int height);

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
  std::vector<int> inputs;  ///< The channels of each input tensor.
  ConvolutionShape shape;   ///< `inputs` of it is the sum of the channels above.
  bool add = false;         ///< Whether a tensor is added.
  int width = 1;
  int height = 1;
  bool depthwise = false;
};

/// A convolution, what it computes, and how far each value may be off by the roundings of its sums.
struct ConvolutionProblem {
  ConvolutionCase convolution;
  NetworkPlanes from;  ///< The layout of the inputs.
  NetworkPlanes to;    ///< The layout of the result.
  NetworkOp op;
  std::vector<ReferenceTensor> inputs;
  ReferenceTensor added;
  ReferenceTensor expected;
  ReferenceTensor allowed;

  explicit ConvolutionProblem(const ConvolutionCase& wanted);

  /// Enqueues the convolution by the kernel for it. `tensors` and `added_tensor`, which may be
  /// null, are the inputs and what is added in their layouts. `tile` is the way in which the kernel
  /// divides the work; null: the one that the library chooses. It must be null for a depthwise
  /// convolution and for one with strides.
  void launch(Context& context, const std::vector<const Buffer<float>*>& tensors,
              const Buffer<float>* added_tensor, const ConvolutionTile* tile,
              Buffer<float>& out) const;
};

}  // namespace diacut
