#include <gtest/gtest.h>

#include "boundary/network/convolutions.hpp"
#include "network_tensors.hpp"
#include "support.hpp"

namespace diacut::testing {
namespace {

class NetworkDepthwiseConvolution : public ::testing::Test {
 protected:
  Context context_{testing::test_device()};
};

TEST_F(NetworkDepthwiseConvolution, MatchesTheReference) {
  for (const auto& [width, height] : kTensorSizes) {
    expect_convolution(context_,
                       {5, {.outputs = 5, .kernel = 3, .relu = true}, true, width, height, true});
    expect_convolution(context_,
                       {3, {.outputs = 3, .kernel = 3, .dilation = 5}, false, width, height, true});
    expect_convolution(context_, {2, {.outputs = 2, .kernel = 1}, true, width, height, true});
    expect_convolution(
        context_,
        {3, {.outputs = 3, .kernel = 5, .relu = true, .most = 2}, true, width, height, true});
  }
}

TEST_F(NetworkDepthwiseConvolution, MatchesTheReferenceWithStrides) {
  for (const auto& [width, height] : kTensorSizes) {
    for (const int kernel : {1, 3, 5}) {
      for (const int shift : {0, 1}) {
        if (shift > kernel / 2) continue;
        ConvolutionShape shape{.outputs = 3, .kernel = kernel, .stride = 2, .shift = shift};
        expect_convolution(context_, {3, shape, true, width, height, true});
        shape.relu = true;
        shape.most = 1;
        expect_convolution(context_, {3, shape, false, width, height, true});
      }
    }
  }
}

// Small enough for a simulated device that watches every access.
class TinyNetworkDepthwise : public NetworkDepthwiseConvolution {};

TEST_F(TinyNetworkDepthwise, MatchesTheReference) {
  expect_convolution(context_, {2, {.outputs = 2, .kernel = 3}, true, 3, 4, true});
  expect_convolution(context_,
                     {2, {.outputs = 2, .kernel = 5, .stride = 2, .shift = 1}, true, 3, 4, true});
}

}  // namespace
}  // namespace diacut::testing
