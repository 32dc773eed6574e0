#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "boundary/network/convolutions.hpp"
#include "boundary/network/device_network.hpp"
#include "core/embedded_text.hpp"
#include "network_tensors.hpp"
#include "right.hpp"

namespace diacut::testing {
namespace {

class NetworkConvolution : public GuardedTest {};

TEST_F(NetworkConvolution, MatchesTheReference) {
  for (const auto& [width, height] : kTensorSizes) {
    for (const int kernel : {1, 3}) {
      expect_convolution(
          context_, {3, {.outputs = 16, .kernel = kernel, .relu = true}, false, width, height});
      expect_convolution(context_, {12, {.outputs = 9, .kernel = kernel}, true, width, height});
    }
    expect_convolution(context_,
                       {6, {.outputs = 1, .kernel = 3, .dilation = 4}, false, width, height});
    expect_convolution(
        context_,
        {11, {.outputs = 8, .kernel = 3, .dilation = 2, .relu = true}, true, width, height});
  }
}

TEST_F(NetworkConvolution, EveryLineTileMatchesTheReference) {
  for (const int lanes : {1, 4, 8, 16}) {
    SCOPED_TRACE(::testing::Message() << lanes << " lanes");
    const ConvolutionTile tile = LineTile{lanes};
    expect_convolution(context_,
                       {7, {.outputs = 9, .kernel = 3, .dilation = 2, .relu = true}, true, 33, 5},
                       &tile);
    expect_convolution(context_, {3, {.outputs = 8, .kernel = 1}, false, 130, 2}, &tile);
  }
}

TEST_F(NetworkConvolution, EveryStripTileMatchesTheReference) {
  for (const StripTile& strip :
       {StripTile{4, 1, 4, 2}, StripTile{8, 3, 4, 24}, StripTile{16, 2, 8, 6}}) {
    SCOPED_TRACE(::testing::Message() << strip.lanes << " lanes, " << strip.vectors << " vectors");
    const ConvolutionTile tile = strip;
    for (const int kernel : {1, 3}) {
      // Rows in one strip and in several, groups of rows that are cut by the edge, and a cut block.
      for (const auto& [width, height] : {std::pair(1, 1), {33, 5}, {450, 2}, {97, 11}}) {
        expect_convolution(context_,
                           {7, {.outputs = 9, .kernel = kernel, .relu = true}, true, width, height},
                           &tile);
        expect_convolution(context_, {3, {.outputs = 1, .kernel = kernel}, false, width, height},
                           &tile);
      }
    }
  }
}

TEST_F(NetworkConvolution, EveryPatchTileOfTheBuiltInNetworksMatchesTheReference) {
  DeviceInfo device = context_.info();
  device.kind = DeviceKind::kGpu;
  device.dedicated_local_memory = true;
  std::vector<std::pair<PatchTile, ConvolutionShape>> taken;
  for (const EmbeddedBytes& file : embedded_networks()) {
    const auto network = load_network(std::string(file.name));
    for (const NetworkOp& op : network->ops) {
      if (op.kind != NetworkOpKind::kConvolution) continue;
      if (op.shape.stride > 1 || op.shape.depthwise) continue;
      const NetworkTensor& out = network->tensors[op.output];
      const ConvolutionShape shape{
          .outputs = out.channels, .kernel = op.shape.kernel, .dilation = op.shape.dilation};
      for (const auto& [width, height] : {std::pair(101, 67), {529, 369}}) {
        const ConvolutionTile tile =
            network_conv_tile(device, 1, shape, planes_at(*network, out.level, {width, height}, 1));
        const auto* patch = std::get_if<PatchTile>(&tile);
        const auto same = [&](const auto& other) {
          return patch != nullptr && other.first == *patch &&
                 other.second.kernel == op.shape.kernel &&
                 other.second.dilation == op.shape.dilation;
        };
        if (patch != nullptr && std::none_of(taken.begin(), taken.end(), same)) {
          taken.emplace_back(*patch, shape);
        }
      }
    }
  }
  ASSERT_FALSE(taken.empty());
  for (const auto& [patch, shape] : taken) {
    SCOPED_TRACE(::testing::Message() << patch.down << " down, " << patch.shares << " shares");
    const ConvolutionTile tile = patch;
    ConvolutionShape odd = shape;
    odd.relu = true;
    // Whole depths and a cut one, a block that is not whole, of patches the last ones cut.
    odd.outputs = 13;
    expect_convolution(context_, {19, odd, true, 67, 19}, &tile);
    odd.outputs = 1;
    odd.relu = false;
    for (const auto& [width, height] : kTensorSizes) {
      expect_convolution(context_, {3, odd, false, width, height}, &tile);
    }
  }
}

// Small enough for a simulated device that watches every access.
class TinyNetworkConvolution : public NetworkConvolution {};

TEST_F(TinyNetworkConvolution, MatchesTheReference) {
  const ConvolutionTile rows = LineTile{1};
  expect_convolution(
      context_, {3, {.outputs = 9, .kernel = 3, .dilation = 2, .relu = true}, true, 5, 3}, &rows);
  expect_convolution(context_, {1, {.outputs = 1, .kernel = 1}, false, 1, 1}, &rows);
  expect_convolution(context_, {2, {.outputs = 3, .kernel = 3}, false, 17, 3}, &rows);
  const ConvolutionTile strips = StripTile{4, 1, 4, 5};
  for (const int kernel : {1, 3}) {
    expect_convolution(context_, {3, {.outputs = 5, .kernel = kernel}, true, 23, 5}, &strips);
  }
  for (const bool depthwise : {true, false}) {
    expect_convolution(
        context_,
        {9, {.outputs = 9, .kernel = 3, .stride = 2, .depthwise = depthwise}, true, 3, 4});
  }
}

class TinyNetworkPatch : public NetworkConvolution {};

TEST_F(TinyNetworkPatch, SeesAsFarAsItMay) {
  // Shares with and without work, two rounds of giving sums away, a cut depth.
  const ConvolutionTile tile = PatchTile{
      .channels = 4, .down = 1, .columns = 3, .rows = 3, .blocks = 2, .shares = 4, .depth = 6};
  for (const auto& [width, height] : {std::pair(1, 1), {3, 5}, {14, 4}}) {
    expect_convolution(context_,
                       {10,
                        {.outputs = 9, .kernel = 3, .dilation = PatchTile::kMaxReach, .relu = true},
                        true,
                        width,
                        height},
                       &tile);
  }
}

}  // namespace
}  // namespace diacut::testing
