// Turned and mirrored forms of pictures, and the canonical one of them.
//
// Which tile a convolution takes on which device.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <opencv2/core.hpp>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "boundary/network/convolutions.hpp"
#include "boundary/network/device_network.hpp"
#include "boundary/network/load_network.hpp"
#include "boundary/network/picture_kernels.hpp"
#include "boundary/network/tiles.hpp"
#include "by_pixel.hpp"
#include "diacut/errors.hpp"
#include "diacut/parameters.hpp"
#include "drawn_image.hpp"
#include "matchers.hpp"
#include "network_file.hpp"
#include "temp_folder.hpp"
#include "turned_picture.hpp"

namespace diacut::testing {
namespace {

TEST(NetworkFile, IsReadAsItWasWritten) {
  const Network network = parse_network(small_network(1).bytes(), "small");
  EXPECT_EQ(network.levels(), 2);
  ASSERT_EQ(network.ops.size(), 16u);
  EXPECT_EQ(network.tensors.front().channels, 3);
  const NetworkOp& sum = network.ops[2];
  EXPECT_EQ(network.tensors[static_cast<std::size_t>(sum.output)].name, "b0");
  EXPECT_EQ(network.tensors[static_cast<std::size_t>(sum.added)].name, "stem");
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
  EXPECT_EQ(parse_network(small_network(1).bytes(), "one").outputs(), 1);
  EXPECT_EQ(parse_network(small_network(1, true, 2).bytes(), "two").outputs(), 2);
  NetworkFile named = small_network(1);
  named.header()["__metadata__"]["outputs"] = "boundary";
  EXPECT_EQ(parse_network(named.bytes(), "one, named").outputs(), 1);
}

TEST(NetworkFile, StridesGoOneLevelDown) {
  const Network network = parse_network(testing::strided_network(1).bytes(), "strided");
  EXPECT_EQ(network.levels(), 4);
  const auto level = [&](std::size_t op) {
    return network.tensors[static_cast<std::size_t>(network.ops[op].output)].level;
  };
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

TEST(NetworkFile, HalfAndSinglePrecisionAgree) {
  const Network half = parse_network(small_network(2, true).bytes(), "half");
  const Network single = parse_network(small_network(2, false).bytes(), "single");
  for (std::size_t i = 0; i < half.ops.size(); ++i) {
    ASSERT_EQ(half.ops[i].weights.size(), single.ops[i].weights.size());
    for (std::size_t k = 0; k < half.ops[i].weights.size(); ++k) {
      const float exact = single.ops[i].weights[k];
      // 11 bits, and 2^-25 where those are subnormal.
      EXPECT_NEAR(half.ops[i].weights[k], exact, std::abs(exact) * 0x1p-11f + 0x1p-25f);
    }
  }
}

TEST(NetworkFile, HalvesOfEveryMagnitude) {
  NetworkFile file(1);
  file.conv("logit", "image", 3, 1, {.kernel = 1, .relu = false});
  file.sigmoid("logit");
  // 1, the smallest subnormal, the largest number.
  const std::uint16_t halves[] = {0x3c00, 0x8001, 0x7bff};
  for (std::size_t i = 0; i < 3; ++i) {
    file.data()[2 * i] = static_cast<std::byte>(halves[i] & 0xff);
    file.data()[2 * i + 1] = static_cast<std::byte>(halves[i] >> 8);
  }
  const Network network = parse_network(file.bytes(), "halves");
  EXPECT_EQ(network.ops[0].weights, (std::vector<float>{1.0f, -0x1p-24f, 65504.0f}));
}

TEST(NetworkFile, AnyValueInAnyPlaceIsReadOrRefused) {
  const auto ops = [](NetworkFile& file) -> nlohmann::json& { return file.graph()["ops"]; };
  const NetworkFile sound = small_network(4);
  for (const nlohmann::json& other :
       {nlohmann::json(), nlohmann::json(-1), nlohmann::json("x"), nlohmann::json::array(),
        nlohmann::json(1e300), nlohmann::json(true), nlohmann::json{{"a", 1}}}) {
    NetworkFile file = sound;
    const std::size_t count = ops(file).size();
    for (std::size_t i = 0; i < count; ++i) {
      for (const auto& [key, value] : ops(file)[i].items()) {
        NetworkFile spoilt = sound;
        ops(spoilt)[i][key] = other;
        try {
          parse_network(spoilt.bytes(), "spoilt");
        } catch (const InputError&) {
        }
      }
    }
  }
}

TEST(LoadNetwork, NamesTheFileThatIsMissing) {
  const testing::TempFolder folder;
  for (const std::string& path : {folder / "none.safetensors", folder.path().string()}) {
    EXPECT_THAT(message_of<ConfigError>([&] { load_network(path); }),
                AllOf(HasSubstr(path), HasSubstr("boundary.weights")));
  }
  const std::string path = folder / "small.safetensors";
  small_network(5).write(path);
  EXPECT_EQ(load_network(path)->ops.size(), 16u);
}

TEST(LoadNetwork, ParsesAFileAgainOnlyWhenItHasChanged) {
  const testing::TempFolder folder;
  const std::string path = folder / "small.safetensors";
  small_network(5).write(path);
  const auto first = load_network(path);
  EXPECT_EQ(load_network(path), first);
  small_network(6).write(path);
  const auto changed = load_network(path);
  EXPECT_NE(changed, first);
  EXPECT_NE(changed->ops[0].weights, first->ops[0].weights);
  EXPECT_EQ(load_network(path), changed);
}

TEST(LoadNetworks, TakesSeveralSeparatedByCommas) {
  const testing::TempFolder folder;
  const std::string path = folder / "small.safetensors";
  small_network(5).write(path);
  EXPECT_EQ(load_networks("").size(), 1u);
  const Networks both = load_networks("default," + path);
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0], load_network(""));
  EXPECT_EQ(both[1]->ops.size(), 16u);
  for (const std::string& wrong :
       std::vector<std::string>{",default", "default,", "default,," + path, ","}) {
    EXPECT_THAT(message_of<ConfigError>([&] { load_networks(wrong); }),
                HasSubstr("boundary.weights: '" + wrong + "'"));
  }
}

TEST(LoadNetworks, AveragesThoseOfTheSameOutputsAlone) {
  const testing::TempFolder folder;
  const std::string one = folder / "one.safetensors";
  const std::string two = folder / "two.safetensors";
  small_network(5).write(one);
  small_network(5, true, 2).write(two);
  EXPECT_EQ(load_networks(two + "," + two).size(), 2u);
  EXPECT_THAT(message_of<ConfigError>([&] { load_networks(one + "," + two); }),
              AllOf(HasSubstr("boundary.weights: of the networks '" + one + "," + two + "'"),
                    HasSubstr("the same outputs")));
}

TEST(LoadNetworks, EveryPresetsNetworksAreBuiltIn) {
  for (const std::string& preset : preset_names()) {
    EXPECT_FALSE(load_networks(load_parameters(preset).boundary.weights).empty()) << preset;
  }
}

TEST(NetworkReach, IsHowFarAChangeIsFelt) {
  // Level 0: 1, and 2 from a dilation; half sizes, level 1: 2 x 1; its bilinear return: 2; 1 more.
  NetworkFile file(1);
  file.conv("a", "image", 3, 2);
  file.conv("b", "a", 2, 2, {.dilation = 2});
  file.conv("p", "b", 2, 2, {.kernel = 1, .stride = 2});
  file.conv("c", "p", 2, 2);
  file.upsample("u", "c", "a");
  file.conv("d", "u", 2, 1, {.relu = false});
  file.sigmoid("d");
  EXPECT_EQ(parse_network(file.bytes(), "reach").reach(), 1 + 2 + 2 + 2 + 1);
}

TEST(NetworkOperations, CountEachTapTwice) {
  NetworkFile file(1);
  file.conv("a", "image", 3, 2);
  file.conv("p", "a", 2, 2, {.kernel = 1, .stride = 2});
  file.conv("c", "p", 2, 1, {.kernel = 1});
  file.upsample("u", "c", "a");
  file.sigmoid("u");
  EXPECT_EQ(parse_network(file.bytes(), "count").operations(5, 3),
            2.0 * (3 * 2 * 9 * 15 + 2 * 2 * 3 * 2 + 2 * 1 * 3 * 2));
}

TEST(NetworkBuffers, NeverHoldTwoTensorsThatAreNeeded) {
  const Network network = parse_network(small_network(6).bytes(), "small");
  std::vector<std::size_t> floats;
  for (const NetworkTensor& tensor : network.tensors) {
    floats.push_back(static_cast<std::size_t>(tensor.channels) << (8 - 2 * tensor.level));
  }
  const NetworkBuffers plan = plan_network_buffers(network, floats);
  // What each buffer holds while the network runs.
  std::vector<int> holds(plan.floats.size(), -1);
  const auto place = [&](int tensor) {
    const auto buffer = static_cast<std::size_t>(plan.buffer_of[static_cast<std::size_t>(tensor)]);
    ASSERT_LT(buffer, holds.size());
    EXPECT_GE(plan.floats[buffer], floats[static_cast<std::size_t>(tensor)]);
    holds[buffer] = tensor;
  };
  const auto expect_held = [&](int tensor) {
    const auto buffer = static_cast<std::size_t>(plan.buffer_of[static_cast<std::size_t>(tensor)]);
    EXPECT_EQ(holds[buffer], tensor) << network.tensors[static_cast<std::size_t>(tensor)].name;
  };
  place(network.input());
  for (const NetworkOp& op : network.ops) {
    if (op.kind != NetworkOpKind::kSigmoid) place(op.output);
    expect_held(op.input);
    if (op.added >= 0) expect_held(op.added);
  }
  // What is needed at once, at the most.
  std::size_t most = 0;
  for (std::size_t i = 0; i < network.ops.size(); ++i) {
    std::size_t needed = 0;
    for (int tensor = 0; tensor <= network.ops[i].output; ++tensor) {
      bool read = tensor == network.ops[i].output;
      for (std::size_t later = i; later < network.ops.size(); ++later) {
        const NetworkOp& op = network.ops[later];
        read = read || op.added == tensor || op.input == tensor;
      }
      if (read && tensor != network.output()) needed += floats[static_cast<std::size_t>(tensor)];
    }
    most = std::max(most, needed);
  }
  const std::size_t sum = std::accumulate(plan.floats.begin(), plan.floats.end(), std::size_t{0});
  EXPECT_GE(sum, most);
  EXPECT_LE(sum, most * 5 / 4);
}

TEST(NetworkTiles, CoverTheSideAndAlign) {
  for (const int side : {1, 63, 64, 65, 200, 481, 4000}) {
    for (const int tile : {64, 100, 1024}) {
      for (const int levels : {0, 3, 5}) {
        const int reach = 37;
        int at = 0;
        for (const NetworkTile& one : network_tiles(side, tile, reach, levels)) {
          EXPECT_EQ(one.core_begin, at);
          EXPECT_LT(one.core_begin, one.core_end);
          EXPECT_LE(one.core_end - one.core_begin, tile + (1 << levels));
          EXPECT_TRUE(one.begin == 0 || one.begin <= one.core_begin - reach);
          EXPECT_TRUE(one.end == side || one.end >= one.core_end + reach);
          EXPECT_GE(one.begin, 0);
          EXPECT_LE(one.end, side);
          EXPECT_LE(one.end - one.begin, longest_network_tile(side, tile, reach, levels));
          EXPECT_EQ(one.begin % (1 << levels), 0);
          EXPECT_TRUE(one.end == side || one.end % (1 << levels) == 0);
          at = one.core_end;
        }
        EXPECT_EQ(at, side);
      }
    }
  }
}

/// The grey picture in the form that `turn` names, as the comment of Turn defines it.
Image in_form(const Image& image, const Turn& turn) {
  const int width = turn.transposed ? image.height : image.width;
  const int height = turn.transposed ? image.width : image.height;
  const auto value = [&](int u, int v) {
    auto [x, y] = turn.transposed ? std::pair(v, u) : std::pair(u, v);
    if (turn.mirrored_x) x = image.width - 1 - x;
    if (turn.mirrored_y) y = image.height - 1 - y;
    return image.pixels[static_cast<std::size_t>(y * image.width + x)];
  };
  return {width, height, 1, by_pixel(width, height, value), {}, {}};
}

TEST(NetworkTurns, ComposeAsTurningTwiceDoes) {
  const Image image = noise_image(5, 3, 1, 1);
  for (const Turn& first : network_turns(8)) {
    for (const Turn& second : network_turns(8)) {
      EXPECT_EQ(in_form(image, composed(first, second)).pixels,
                in_form(in_form(image, first), second).pixels);
    }
  }
}

TEST(NetworkTurns, AllFormsOfAPictureHaveOneCanonicalForm) {
  for (const int channels : {1, 3}) {
    for (const auto& [width, height] : {std::pair(61, 43), std::pair(20, 70), std::pair(9, 9)}) {
      Image image = noise_image(width, height, channels, 5);
      const cv::Mat picture(height, width, channels == 3 ? CV_32FC3 : CV_32F, image.pixels.data());
      std::vector<float> canonical;
      for (const int rotation : {-1, 0, 1, 2}) {
        for (const bool mirrored : {false, true}) {
          const cv::Mat form = turned(picture, rotation, mirrored);
          Image other{form.cols, form.rows, channels, {}, {}, {}};
          other.pixels.assign(form.ptr<float>(), form.ptr<float>() + form.total() * channels);
          const Turn turn = canonical_turn(other);
          Image grey = other;
          if (channels == 3) {
            grey.channels = 1;
            grey.pixels.clear();
            for (std::size_t i = 0; i < other.pixels.size(); i += 3) {
              grey.pixels.push_back(other.pixels[i]);
            }
          }
          const std::vector<float> found = in_form(grey, turn).pixels;
          if (canonical.empty()) canonical = found;
          EXPECT_EQ(found, canonical) << rotation << mirrored;
        }
      }
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
constexpr ConvolutionShape kOne{.inputs = 24, .outputs = 24, .kernel = 1};
constexpr ConvolutionShape kMany{.inputs = 672, .outputs = 24, .kernel = 1};

ConvolutionShape dilated(int kernel, int dilation) {
  return {.inputs = 8, .outputs = 8, .kernel = kernel, .dilation = dilation};
}

TEST(NetworkConvTile, OfAGpuSuitsItsMemoryThePixelsAndTheTaps) {
  const DeviceInfo large = gpu(48 << 10);
  const DeviceInfo small = gpu(16 << 10);
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
  const Sizes some = {{128, 64}, {145, 105}, {181, 181}};
  const Sizes many = {{256, 128}, {529, 369}, {4000, 3000}};
  const Sizes any = {{34, 24}, {145, 105}, {529, 369}};
  for (const auto& [device, shape, sizes, tile] :
       {// Few pixels share channels, many have deep patches.
        Case{large, kThree, few, "4 shares, 1 down"},
        {large, kThree, some, "1 shares, 1 down"},
        {large, kThree, many, "1 shares, 2 down"},
        // One tap is worth patches of many pixels or inputs.
        {large, kOne, {{34, 24}, {181, 181}}, "rows"},
        {large, kOne, many, "1 shares, 1 down"},
        {large, kMany, {{34, 24}}, "8 shares"},
        {large, kMany, many, "1 shares"},
        // A single tap reaches nowhere, whatever the dilation.
        {large, dilated(3, 4), {{300, 200}}, "1 shares"},
        {large, dilated(3, 5), {{300, 200}}, "rows"},
        {large, dilated(1, 8), {{300, 200}}, "1 shares"},
        // Little memory holds the patches that fit it; the first would have 20 KiB.
        {small, kThree, {{34, 24}}, "rows"},
        {small, kThree, {{145, 105}}, "1 shares, 1 down, 15104 bytes"},
        {small, kThree, {{529, 369}}, "1 shares, 2 down, 12672 bytes"},
        {gpu(8 << 10), kThree, any, "rows"},
        {emulated, kThree, any, "rows"},
        {narrow, kThree, any, "rows"},
        {accelerator, kThree, any, "rows"}}) {
    for (const auto& [width, height] : sizes) {
      EXPECT_THAT(tile_for(device, shape, width, height), StartsWith(tile))
          << width << "x" << height << ", kernel " << shape.kernel;
    }
  }
}

TEST(NetworkConvTile, CpuTakesRowsOfItsVectors) {
  DeviceInfo device = gpu(512 << 10);
  device.kind = DeviceKind::kCpu;
  for (const auto& [width, height] : {std::pair{1, 1}, {145, 105}, {4000, 3000}}) {
    const NetworkPlanes planes = network_planes(width, height, 1);
    for (const ConvolutionShape& shape : {kOne, kThree}) {
      EXPECT_EQ(network_conv_tile(device, 8, shape, planes),
                (ConvolutionTile{RowTile{8, 3, 1, 4}}));
      EXPECT_EQ(network_conv_tile(device, 16, shape, planes), (ConvolutionTile{RowTile{16, 2, 1}}));
    }
  }
}

}  // namespace
}  // namespace diacut::testing
