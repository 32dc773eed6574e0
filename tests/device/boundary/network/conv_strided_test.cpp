#include <gtest/gtest.h>

#include "boundary/network/convolutions.hpp"
#include "network_tensors.hpp"
#include "support.hpp"

namespace diacut::testing {
namespace {

class StridedConvolution : public ::testing::Test {
 protected:
  Context context_{testing::test_device()};
};

TEST_F(StridedConvolution, MatchesTheReference) {
  for (const auto& [width, height] : kTensorSizes) {
    for (const int kernel : {1, 3, 5}) {
      for (const int shift : {0, 1}) {
        if (shift > kernel / 2) continue;
        ConvolutionShape shape{.outputs = 9, .kernel = kernel, .stride = 2, .shift = shift};
        expect_convolution(context_, {3, shape, true, width, height});
        shape.relu = true;
        shape.most = 1;
        expect_convolution(context_, {5, shape, false, width, height});
      }
    }
  }
}

// Small enough for a simulated device that watches every access.
class TinyStridedConvolution : public StridedConvolution {};

TEST_F(TinyStridedConvolution, MatchesTheReference) {
  expect_convolution(context_, {2, {.outputs = 9, .kernel = 3, .stride = 2}, true, 3, 4});
}

}  // namespace
}  // namespace diacut::testing
