// Networks as files have them, the canonical form of a picture, and which tile a convolution takes
// on which device.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "boundary/network/convolutions.hpp"
#include "boundary/network/device_network.hpp"
#include "boundary/network/load_network.hpp"
#include "boundary/network/picture_kernels.hpp"
#include "boundary/network/tiles.hpp"
#include "diacut/errors.hpp"
#include "diacut/parameters.hpp"
#include "matchers.hpp"
#include "network_file.hpp"
#include "temp_folder.hpp"

namespace diacut::testing {
namespace {

TEST(NetworkFile, IsReadAsItWasWritten) {
  const Network network = parse_network(small_network(1).bytes(), "small");
  EXPECT_EQ(network.levels(), 2);
  ASSERT_EQ(network.ops.size(), 16u);
  EXPECT_EQ(network.tensors.front().channels, 3);
  const NetworkOp& sum = network.ops[2];
  EXPECT_EQ(network.tensors[sum.output].name, "b0");
  EXPECT_EQ(network.tensors[sum.added].name, "stem");
  EXPECT_EQ(sum.weights.size(), 9u * 9 * 9);
  EXPECT_TRUE(sum.shape.relu);
  EXPECT_EQ(network.ops[1].shape.dilation, 2);
  EXPECT_TRUE(network.ops[5].shape.depthwise);
  EXPECT_EQ(network.ops.back().kind, NetworkOpKind::kSigmoid);
  EXPECT_EQ(network.margin(0), 2);
  EXPECT_EQ(network.margin(1), 3);
  EXPECT_EQ(network.margin(2), 4);
}

TEST(NetworkFile, HasOneOutputOrTwo) {
  NetworkFile file = small_network(1);
  for (const bool named : {false, true}) {
    if (named) file.header()["__metadata__"]["outputs"] = "boundary";
    EXPECT_EQ(parse_network(file.bytes(), "one").outputs(), 1);
  }
  EXPECT_EQ(parse_network(small_network(1, true, 2).bytes(), "two").outputs(), 2);
}

TEST(NetworkFile, StridesGoOneLevelDown) {
  const Network network = parse_network(strided_network(1).bytes(), "strided");
  EXPECT_EQ(network.levels(), 4);
  const auto level = [&](std::size_t op) { return network.tensors[network.ops[op].output].level; };
  EXPECT_EQ(level(0), 1);
  EXPECT_EQ(network.ops[0].shape.stride, 2);
  EXPECT_EQ(network.ops[0].shape.before(), 1);
  EXPECT_EQ(network.ops[0].shape.most, 2.0f);
  EXPECT_EQ(level(3), 2);
  EXPECT_EQ(network.ops[3].shape.before(), 0);
  EXPECT_EQ(network.ops[3].shape.after(), 2);
  EXPECT_EQ(network.ops[4].shape.before(), 2);
  // Five taps from one before on: three after.
  EXPECT_EQ(network.margin(3), 3);
  EXPECT_EQ(network.margin(0), 1);
}

TEST(NetworkFile, NumbersOfEveryMagnitudeIn16And32Bits) {
  // 1, the smallest subnormal half, the largest half; a half has 11 bits.
  const std::uint16_t halves[] = {0x3c00, 0x8001, 0x7bff};
  const float singles[] = {1.0f, -0x1p-24f, 65504.0f};
  for (const bool half : {true, false}) {
    NetworkFile file(1, half);
    file.conv("logit", "image", 3, 1, {.kernel = 1, .relu = false});
    file.sigmoid("logit");
    std::span<const std::byte> numbers = std::as_bytes(std::span(singles));
    if (half) numbers = std::as_bytes(std::span(halves));
    std::copy(numbers.begin(), numbers.end(), file.data().begin());
    EXPECT_THAT(parse_network(file.bytes(), "numbers").ops[0].weights, ElementsAreArray(singles));
  }
}

class LoadNetwork : public ::testing::Test {
 protected:
  TempFolder folder_;
  std::string path_ = folder_ / "small.safetensors";
};

TEST_F(LoadNetwork, ParsesAFileAgainOnlyWhenItHasChanged) {
  small_network(5).write(path_);
  const auto first = load_network(path_);
  EXPECT_EQ(first->ops.size(), 16u);
  EXPECT_EQ(load_network(path_), first);
  small_network(6).write(path_);
  const auto changed = load_network(path_);
  EXPECT_NE(changed, first);
  EXPECT_NE(changed->ops[0].weights, first->ops[0].weights);
  EXPECT_EQ(load_network(path_), changed);
}

TEST_F(LoadNetwork, TakesSeveralSeparatedByCommas) {
  small_network(5).write(path_);
  EXPECT_THAT(load_networks(""), ElementsAre(load_network("")));
  EXPECT_THAT(load_networks("default," + path_),
              ElementsAre(load_network(""), load_network(path_)));
  for (const std::string& wrong :
       {std::string(",default"), std::string("default,"), "default,," + path_, std::string(",")}) {
    EXPECT_THAT(message_of<ConfigError>([&] { load_networks(wrong); }),
                HasSubstr("boundary.weights: '" + wrong + "'"));
  }
  EXPECT_EQ(load_networks(path_ + "," + path_).size(), 2u);
}

TEST_F(LoadNetwork, EveryPresetsNetworksAreBuiltIn) {
  for (const std::string& preset : preset_names()) {
    EXPECT_FALSE(load_networks(load_parameters(preset).boundary.weights).empty()) << preset;
  }
}

TEST(Network, TellsItsReachAndItsOperations) {
  NetworkFile file(1);
  file.conv("a", "image", 3, 2);
  file.conv("b", "a", 2, 2, {.dilation = 2});
  file.conv("p", "b", 2, 2, {.kernel = 1, .stride = 2});
  file.conv("c", "p", 2, 2);
  file.upsample("u", "c", "a");
  file.conv("d", "u", 2, 1, {.relu = false});
  file.sigmoid("d");
  const Network network = parse_network(file.bytes(), "small");
  // Level 0: 1, and 2 from a dilation; half sizes, level 1: 2 x 1; its bilinear return: 2; 1 more.
  EXPECT_EQ(network.reach(), 1 + 2 + 2 + 2 + 1);
  // Inputs, outputs and taps of each pixel of 5 x 3, or of 3 x 2.
  EXPECT_EQ(network.operations(5, 3), 2.0 * (3 * 2 * 9 * 15 + 2 * 2 * 9 * 15 + 2 * 2 * 3 * 2 +
                                             2 * 2 * 9 * 3 * 2 + 2 * 1 * 9 * 15));
}

TEST(NetworkBuffers, TakeHardlyMoreThanIsNeededAtOnce) {
  const Network network = parse_network(small_network(6).bytes(), "small");
  std::vector<std::size_t> floats;
  for (const NetworkTensor& tensor : network.tensors) {
    floats.push_back(static_cast<std::size_t>(tensor.channels) << (8 - 2 * tensor.level));
  }
  std::vector<std::size_t> last_read(floats.size(), 0);
  for (std::size_t i = 0; i < network.ops.size(); ++i) {
    for (const int tensor : {network.ops[i].input, network.ops[i].added}) {
      if (tensor >= 0) last_read[tensor] = i;
    }
  }
  std::size_t most = 0;
  for (std::size_t i = 0; i + 1 < network.ops.size(); ++i) {
    const NetworkOp& op = network.ops[i];
    const auto made = static_cast<std::size_t>(op.output);
    std::size_t needed = floats[made];
    for (std::size_t tensor = 0; tensor < made; ++tensor) {
      if (last_read[tensor] >= i) needed += floats[tensor];
    }
    // A sum takes the place of what is added for the last time.
    if (op.added >= 0 && op.added != op.input && last_read[op.added] == i) needed -= floats[made];
    most = std::max(most, needed);
  }
  const NetworkBuffers plan = plan_network_buffers(network, floats);
  const std::size_t sum = std::accumulate(plan.floats.begin(), plan.floats.end(), std::size_t{0});
  EXPECT_GE(sum, most);
  EXPECT_LE(sum, most * 5 / 4);
}

TEST(NetworkTiles, CoverTheSideAndAlign) {
  for (const int side : {1, 63, 64, 65, 200, 481, 4000}) {
    for (const int tile : {64, 100, 1024}) {
      for (const int levels : {0, 3, 5}) {
        const int reach = 37;
        const int step = StripTile::kWinogradRows << levels;
        int at = 0;
        for (const NetworkTile& one : network_tiles(side, {0, side}, tile, reach, levels)) {
          EXPECT_EQ(one.core_begin, at);
          EXPECT_LE(one.core_end - one.core_begin, tile + step);
          EXPECT_TRUE(one.begin == 0 || one.begin <= one.core_begin - reach);
          EXPECT_TRUE(one.end == side || one.end >= one.core_end + reach);
          EXPECT_GE(one.begin, 0);
          EXPECT_LE(one.end, side);
          EXPECT_LE(one.end - one.begin, longest_network_tile(side, tile, reach, levels));
          EXPECT_EQ(one.begin % step, 0);
          EXPECT_TRUE(one.end == side || one.end % step == 0);
          at = one.core_end;
        }
        EXPECT_EQ(at, side);
      }
    }
  }
}

/// Where pixel `at` of a picture that is turned lies in the picture, both seen from the middle.
std::pair<int, int> place_in_picture(const Turn& turn, std::pair<int, int> at) {
  if (turn.transposed) std::swap(at.first, at.second);
  return {turn.mirrored_x ? -at.first : at.first, turn.mirrored_y ? -at.second : at.second};
}

TEST(NetworkTurns, ComposeAsTurningTwiceDoes) {
  for (const Turn& first : network_turns(8)) {
    for (const Turn& second : network_turns(8)) {
      EXPECT_EQ(place_in_picture(composed(first, second), {1, 2}),
                place_in_picture(first, place_in_picture(second, {1, 2})));
    }
  }
}

TEST(NetworkTurns, TheCanonicalFormIsBrightAtTheTopAndOnTheLeft) {
  Image image{4, 3, 1, std::vector<float>(12, 0.0f), {}, {}};
  EXPECT_EQ(canonical_turn(image), Turn{}) << "nothing to turn by";
  image.pixels[11] = 1;  // The lower right corner.
  image.pixels[10] = 1;
  EXPECT_EQ(canonical_turn(image), (Turn{false, true, true}));
  image.pixels[10] = 0;
  image.pixels[7] = 1;
  image.pixels[3] = 1;  // The right side.
  EXPECT_EQ(canonical_turn(image), (Turn{true, true, false}));
}

DeviceInfo gpu(std::size_t local_memory) {
  DeviceInfo device;
  device.kind = DeviceKind::kGpu;
  device.local_memory = local_memory;
  device.dedicated_local_memory = true;
  device.max_work_group = 1024;
  return device;
}

/// What a device of one lane takes.
std::string tile_for(const DeviceInfo& device, const ConvolutionShape& shape, int width,
                     int height) {
  const ConvolutionTile tile = network_conv_tile(
      device, 1, shape, network_planes(width, height, shape.dilation * (shape.kernel / 2)));
  const auto* patch = std::get_if<PatchTile>(&tile);
  if (patch == nullptr) return "rows";
  return fmt::format("{} shares, {} down, {} bytes", patch->shares, patch->down,
                     patch->local_memory(shape));
}

constexpr ConvolutionShape kThree{.inputs = 24, .outputs = 24, .kernel = 3};
constexpr ConvolutionShape kWide{.inputs = 32, .outputs = 32, .kernel = 3};
constexpr ConvolutionShape kOne{.inputs = 24, .outputs = 24, .kernel = 1};
constexpr ConvolutionShape kMany{.inputs = 672, .outputs = 24, .kernel = 1};

ConvolutionShape dilated(int kernel, int dilation) {
  return {.inputs = 8, .outputs = 8, .kernel = kernel, .dilation = dilation};
}

TEST(NetworkConvTile, OfAGpuSuitsItsMemoryThePixelsAndTheTaps) {
  const DeviceInfo large = gpu(48 << 10);
  DeviceInfo emulated = large;
  emulated.dedicated_local_memory = false;
  DeviceInfo narrow = large;
  narrow.max_work_group = 64;
  DeviceInfo accelerator = large;
  accelerator.kind = DeviceKind::kAccelerator;
  struct Case {
    DeviceInfo device;
    ConvolutionShape shape;
    std::vector<std::pair<int, int>> sizes;
    const char* tile;
  };
  using Sizes = std::vector<std::pair<int, int>>;
  const Sizes few = {{1, 1}, {34, 24}, {127, 64}};
  const Sizes many = {{128, 64}, {529, 369}, {4000, 3000}};
  const Sizes any = {{34, 24}, {145, 105}, {529, 369}};
  for (const auto& [device, shape, sizes, tile] :
       {// Few pixels share channels, many have deep patches.
        Case{large, kThree, few, "4 shares, 2 down"},
        {large, kThree, many, "1 shares, 4 down"},
        {large, kWide, many, "1 shares, 2 down"},
        // One tap shares many inputs.
        {large, kOne, any, "1 shares, 1 down, 0 bytes"},
        {large, kMany, any, "4 shares, 1 down"},
        // A single tap reaches nowhere, whatever the dilation.
        {large, dilated(3, 4), {{300, 200}}, "1 shares"},
        {large, dilated(3, 5), {{300, 200}}, "rows"},
        {large, dilated(1, 8), {{300, 200}}, "1 shares"},
        // Little memory holds the patches that fit it.
        {gpu(12 << 10), kThree, few, "rows"},
        {gpu(12 << 10), kThree, many, "1 shares, 4 down, 11264 bytes"},
        {gpu(8 << 10), kThree, any, "rows"},
        {emulated, kThree, any, "rows"},
        {narrow, kThree, few, "rows"},
        {accelerator, kThree, any, "rows"}}) {
    for (const auto& [width, height] : sizes) {
      EXPECT_THAT(tile_for(device, shape, width, height), StartsWith(tile))
          << width << "x" << height << ", kernel " << shape.kernel;
    }
  }
}

TEST(NetworkConvTile, CpuTakesStripsWhereItsMemoryHoldsThem) {
  DeviceInfo device = gpu(512 << 10);
  device.kind = DeviceKind::kCpu;
  for (const auto& [width, height] : {std::pair{1, 1}, {145, 105}, {4000, 3000}}) {
    const NetworkPlanes planes = network_planes(width, height, 1);
    const auto tile = [&](int lanes, const ConvolutionShape& shape) {
      return network_conv_tile(device, lanes, shape, planes);
    };
    EXPECT_EQ(tile(8, kOne), (ConvolutionTile{StripTile{8, 3, 4, 24}}));
    EXPECT_EQ(tile(8, kThree), (ConvolutionTile{StripTile{8, 3, 4, 24}}));
    EXPECT_EQ(tile(16, kOne), (ConvolutionTile{StripTile{16, 3, 8, 24}}));
    EXPECT_EQ(tile(16, kThree), (ConvolutionTile{StripTile{16, 2, 8, 24}}));
    EXPECT_EQ(tile(16, dilated(3, 2)), (ConvolutionTile{LineTile{16}}));
    // A channel of a strip of n vectors takes 6 (n + 1) * 64 bytes.
    EXPECT_EQ(tile(16, {.inputs = 128, .outputs = 8, .kernel = 3}),
              (ConvolutionTile{StripTile{16, 2, 8, 8}}));
    EXPECT_EQ(tile(16, {.inputs = 480, .outputs = 8, .kernel = 3}),
              (ConvolutionTile{LineTile{16}}));
  }
}

}  // namespace
}  // namespace diacut::testing
