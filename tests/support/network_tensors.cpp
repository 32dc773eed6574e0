#include "network_tensors.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "guarded.hpp"

namespace diacut::testing {

namespace {

std::size_t element(const NetworkPlanes& planes, int channel, int x, int y) {
  return static_cast<std::size_t>(channel) * planes.plane() +
         static_cast<std::size_t>(y + planes.margin + 1) * planes.stride +
         static_cast<std::size_t>(x);
}

}  // namespace

std::vector<float> random_values(std::size_t count, std::mt19937& random) {
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = normal(random);
  return values;
}

void expect_tensor(const std::vector<float>& found, const NetworkPlanes& planes,
                   const ReferenceTensor& expected, const ReferenceTensor& allowed) {
  ASSERT_EQ(planes.width, expected.width);
  ASSERT_EQ(planes.height, expected.height);
  std::size_t wrong = 0;
  for (int c = 0; c < expected.channels; ++c) {
    for (int y = -planes.margin - 1; y < planes.height + planes.margin + 1; ++y) {
      for (int x = 0; x < planes.stride; ++x) {
        const double value = found[element(planes, c, x, y)];
        const bool inside = x < planes.width && y >= 0 && y < planes.height;
        const double wanted = inside ? expected.at(c, x, y) : 0;
        const double tolerance = inside ? allowed.at(c, x, y) : 0;
        if (!(std::abs(value - wanted) <= tolerance) && ++wrong <= 3) {
          ADD_FAILURE() << "channel " << c << ", " << x << ", " << y << ": " << value
                        << ", expected " << wanted << ", allowed " << tolerance;
        }
      }
    }
  }
  EXPECT_EQ(wrong, 0u);
}

void expect_convolution(Context& context, const ConvolutionCase& convolution,
                        const ConvolutionTile* tile) {
  const ConvolutionShape& shape = convolution.shape;
  SCOPED_TRACE(::testing::Message()
               << convolution.width << "x" << convolution.height << ", kernel " << shape.kernel
               << ", stride " << shape.stride << ", shift " << shape.shift << ", dilation "
               << shape.dilation << ", " << ::testing::PrintToString(convolution.inputs) << " to "
               << shape.outputs);
  const ConvolutionProblem problem(convolution);
  std::vector<Guarded<float>> buffers;
  for (const ReferenceTensor& tensor : problem.inputs) {
    buffers.emplace_back(context, laid_out(tensor, problem.from));
  }
  std::vector<const Buffer<float>*> tensors;
  for (Guarded<float>& buffer : buffers) tensors.push_back(&*buffer);
  Guarded<float> added(context, laid_out(problem.added, problem.to));
  Guarded<float> out(context, problem.to.elements(shape.outputs));
  problem.launch(context, tensors, convolution.add ? &*added : nullptr, tile, *out);
  expect_tensor(out.values(), problem.to, problem.expected, problem.allowed);
}

}  // namespace diacut::testing
