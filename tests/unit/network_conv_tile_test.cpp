// Which tile a convolution takes on which device.
#include <gtest/gtest.h>

#include <cstddef>
#include <variant>

#include "boundary/network/convolutions.hpp"

namespace diacut {
namespace {

DeviceInfo gpu(std::size_t local_memory) {
  DeviceInfo device;
  device.kind = DeviceKind::kGpu;
  device.local_memory = local_memory;
  device.dedicated_local_memory = true;
  device.max_work_group = 1024;
  return device;
}

constexpr std::size_t kKiB = 1024;

/// On a device of one lane.
ConvolutionTile tile_for(const DeviceInfo& device, const ConvolutionShape& shape, int width,
                         int height) {
  return network_conv_tile(device, 1, shape,
                           network_planes(width, height, shape.dilation * (shape.kernel / 2)));
}

bool is_row(const ConvolutionTile& tile) { return std::holds_alternative<RowTile>(tile); }

constexpr ConvolutionShape kThree{.inputs = 24, .outputs = 24, .kernel = 3};
constexpr ConvolutionShape kOne{.inputs = 24, .outputs = 24, .kernel = 1};

TEST(NetworkConvTile, GpuSharesChannelsOfFewPixelsAndTakesDeepPatchesOfMany) {
  const DeviceInfo device = gpu(48 * kKiB);
  for (const auto& [width, height] : {std::pair{1, 1}, {34, 24}, {127, 64}}) {
    const auto tile = std::get<PatchTile>(tile_for(device, kThree, width, height));
    EXPECT_EQ(tile.shares, 4) << width << "x" << height;
    EXPECT_EQ(tile.down, 1);
  }
  for (const auto& [width, height] : {std::pair{128, 64}, {145, 105}, {181, 181}}) {
    const auto tile = std::get<PatchTile>(tile_for(device, kThree, width, height));
    EXPECT_EQ(tile.shares, 1) << width << "x" << height;
    EXPECT_EQ(tile.down, 1);
  }
  for (const auto& [width, height] : {std::pair{256, 128}, {529, 369}, {4000, 3000}}) {
    const auto tile = std::get<PatchTile>(tile_for(device, kThree, width, height));
    EXPECT_EQ(tile.shares, 1) << width << "x" << height;
    EXPECT_EQ(tile.down, 2);
  }
}

TEST(NetworkConvTile, OneTapIsWorthPatchesOfManyPixelsOrInputs) {
  const DeviceInfo device = gpu(48 * kKiB);
  EXPECT_TRUE(is_row(tile_for(device, kOne, 34, 24)));
  EXPECT_TRUE(is_row(tile_for(device, kOne, 181, 181)));
  EXPECT_EQ(std::get<PatchTile>(tile_for(device, kOne, 256, 128)).down, 1);
  ConvolutionShape many = kOne;
  many.inputs = 672;
  EXPECT_EQ(std::get<PatchTile>(tile_for(device, many, 34, 24)).shares, 8);
  EXPECT_EQ(std::get<PatchTile>(tile_for(device, many, 256, 128)).shares, 1);
}

TEST(NetworkConvTile, DevicesAndTapsThatPatchesAreNotForTakeRows) {
  const DeviceInfo device = gpu(48 * kKiB);
  for (const int dilation : {1, 2, 3, 4, 5, 8}) {
    const ConvolutionShape shape{.inputs = 8, .outputs = 8, .kernel = 3, .dilation = dilation};
    EXPECT_EQ(is_row(tile_for(device, shape, 300, 200)), dilation > 4) << dilation;
  }
  // A single tap reaches nowhere, whatever the dilation.
  const ConvolutionShape one{.inputs = 8, .outputs = 8, .kernel = 1, .dilation = 8};
  EXPECT_FALSE(is_row(tile_for(device, one, 300, 200)));

  DeviceInfo emulated = device;
  emulated.dedicated_local_memory = false;
  DeviceInfo narrow = device;
  narrow.max_work_group = 64;
  DeviceInfo accelerator = device;
  accelerator.kind = DeviceKind::kAccelerator;
  for (const DeviceInfo& other : {emulated, narrow, accelerator, gpu(8 * kKiB)}) {
    EXPECT_TRUE(is_row(tile_for(other, kThree, 34, 24)));
    EXPECT_TRUE(is_row(tile_for(other, kThree, 145, 105)));
    EXPECT_TRUE(is_row(tile_for(other, kThree, 529, 369)));
  }
}

TEST(NetworkConvTile, LittleLocalMemoryHoldsThePatchesThatFitIt) {
  const DeviceInfo device = gpu(16 * kKiB);
  EXPECT_TRUE(is_row(tile_for(device, kThree, 34, 24)));  // 20 KiB.
  EXPECT_EQ(std::get<PatchTile>(tile_for(device, kThree, 145, 105)).local_memory(kThree),
            (8 * 10 * 40 + 8 * 9 * 8) * sizeof(float));
  EXPECT_EQ(std::get<PatchTile>(tile_for(device, kThree, 529, 369)).local_memory(kThree),
            (4 * 18 * 40 + 4 * 9 * 8) * sizeof(float));
}

TEST(NetworkConvTile, CpuTakesRowsOfItsVectors) {
  DeviceInfo device = gpu(512 * kKiB);
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
}  // namespace diacut
