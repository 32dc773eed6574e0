// Convolutions with strides, and those that see each channel alone.
#include <gtest/gtest.h>

#include "boundary/network/convolutions.hpp"
#include "network_tensors.hpp"
#include "support.hpp"

namespace diacut::testing {
namespace {

class ConvolutionByRows : public ::testing::Test {
 protected:
  void expect_depthwise(ConvolutionShape shape, bool add, int width, int height) {
    shape.depthwise = true;
    expect_convolution(context_, {shape.outputs, shape, add, width, height});
  }

  Context context_{testing::test_device()};
};

TEST_F(ConvolutionByRows, DepthwiseMatchesTheReference) {
  for (const auto& [width, height] : kTensorSizes) {
    expect_depthwise({.outputs = 5, .kernel = 3, .relu = true}, true, width, height);
    expect_depthwise({.outputs = 3, .kernel = 3, .dilation = 5}, false, width, height);
    expect_depthwise({.outputs = 2, .kernel = 1}, true, width, height);
    expect_depthwise({.outputs = 3, .kernel = 5, .relu = true, .most = 2}, true, width, height);
  }
}

TEST_F(ConvolutionByRows, WithStridesMatchesTheReference) {
  for (const auto& [width, height] : kTensorSizes) {
    for (const int kernel : {1, 3, 5}) {
      for (const int shift : {0, 1}) {
        if (shift > kernel / 2) continue;
        ConvolutionShape shape{.outputs = 9, .kernel = kernel, .stride = 2, .shift = shift};
        expect_convolution(context_, {3, shape, true, width, height});
        shape.outputs = 3;
        expect_depthwise(shape, true, width, height);
        shape.relu = true;
        shape.most = 1;
        expect_depthwise(shape, false, width, height);
        shape.outputs = 9;
        expect_convolution(context_, {5, shape, false, width, height});
      }
    }
  }
}

// Small enough for a simulated device that watches every access.
class TinyConvolutionByRows : public ConvolutionByRows {};

TEST_F(TinyConvolutionByRows, MatchesTheReference) {
  expect_depthwise({.outputs = 2, .kernel = 3}, true, 3, 4);
  expect_depthwise({.outputs = 2, .kernel = 5, .stride = 2, .shift = 1}, true, 3, 4);
  expect_convolution(context_, {2, {.outputs = 9, .kernel = 3, .stride = 2}, true, 3, 4});
}

}  // namespace
}  // namespace diacut::testing
