#include "boundary/network/depthwise.hpp"

#include <gtest/gtest.h>

#include "network_tensors.hpp"
#include "support.hpp"

namespace diacut {
namespace {

using testing::expect_convolution;
using testing::kTensorSizes;

class NetworkDepthwiseConvolution : public ::testing::Test {
 protected:
  Context context_{testing::test_device()};
};

TEST_F(NetworkDepthwiseConvolution, MatchesTheReference) {
  for (const auto& [width, height] : kTensorSizes) {
    expect_convolution(context_,
                       {{5}, {.outputs = 5, .kernel = 3, .relu = true}, true, width, height, true});
    expect_convolution(
        context_, {{3}, {.outputs = 3, .kernel = 3, .dilation = 5}, false, width, height, true});
    expect_convolution(context_, {{2}, {.outputs = 2, .kernel = 1}, true, width, height, true});
  }
}

// Small enough for a simulated device that watches every access.
class TinyNetworkDepthwise : public NetworkDepthwiseConvolution {};

TEST_F(TinyNetworkDepthwise, MatchesTheReference) {
  expect_convolution(context_, {{2}, {.outputs = 2, .kernel = 3}, true, 3, 4, true});
}

}  // namespace
}  // namespace diacut
