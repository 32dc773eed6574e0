// The network's operations on the device against plain loops in double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "boundary/network/conv.hpp"
#include "boundary/network/depthwise.hpp"
#include "boundary/network/device_network.hpp"
#include "boundary/network/network_image.hpp"
#include "boundary/network/reference_network.hpp"
#include "boundary/network/resize.hpp"
#include "core/embedded_bytes.hpp"
#include "guarded.hpp"
#include "support.hpp"

namespace diacut {
namespace {

using testing::Guarded;

constexpr double kEpsilon = std::numeric_limits<float>::epsilon();

ReferenceTensor random_tensor(int channels, int width, int height, std::mt19937& random) {
  std::normal_distribution<float> normal;
  ReferenceTensor tensor(channels, width, height);
  for (double& value : tensor.values) value = normal(random);
  return tensor;
}

std::vector<float> random_values(std::size_t count, std::mt19937& random) {
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = normal(random);
  return values;
}

std::size_t element(const NetworkPlanes& planes, int channel, int x, int y) {
  return static_cast<std::size_t>(channel) * planes.plane() +
         static_cast<std::size_t>(y + planes.margin + 1) * planes.stride +
         static_cast<std::size_t>(x);
}

/// As the kernels read it.
std::vector<float> laid_out(const ReferenceTensor& tensor, const NetworkPlanes& planes) {
  std::vector<float> values(planes.elements(tensor.channels), 0.0f);
  for (int c = 0; c < tensor.channels; ++c) {
    for (int y = 0; y < tensor.height; ++y) {
      for (int x = 0; x < tensor.width; ++x) {
        values[element(planes, c, x, y)] = static_cast<float>(tensor.at(c, x, y));
      }
    }
  }
  return values;
}

ReferenceTensor magnitudes(ReferenceTensor tensor) {
  for (double& value : tensor.values) value = std::abs(value);
  return tensor;
}

/// Expects the tensor within `allowed` of each of its values, and zeros all around it.
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

class NetworkKernels : public ::testing::Test {
 protected:
  /// A convolution of tensors with these channels, by tile if one is given.
  void expect_convolution(const std::vector<int>& inputs, ConvolutionShape shape, bool add,
                          int width, int height, bool depthwise = false,
                          const ConvolutionTile* tile = nullptr) {
    SCOPED_TRACE(::testing::Message()
                 << width << "x" << height << ", kernel " << shape.kernel << ", dilation "
                 << shape.dilation << ", " << ::testing::PrintToString(inputs) << " to "
                 << shape.outputs);
    std::mt19937 random(static_cast<unsigned>(width * 31 + height * 7 + shape.outputs));
    const NetworkPlanes planes = network_planes(width, height, shape.dilation * (shape.kernel / 2));
    NetworkOp op;
    op.kind = depthwise ? NetworkOpKind::kDepthwise : NetworkOpKind::kConvolution;
    op.kernel = shape.kernel;
    op.dilation = shape.dilation;
    op.relu = shape.relu;
    std::vector<ReferenceTensor> tensors;
    std::vector<Guarded<float>> buffers;
    for (const int channels : inputs) {
      shape.inputs += channels;
      tensors.push_back(random_tensor(channels, width, height, random));
      buffers.emplace_back(context_, laid_out(tensors.back(), planes));
    }
    const auto taps = static_cast<std::size_t>(shape.kernel * shape.kernel);
    const auto inner = static_cast<std::size_t>(depthwise ? 1 : shape.inputs);
    op.weights = random_values(static_cast<std::size_t>(shape.outputs) * inner * taps, random);
    op.bias = random_values(static_cast<std::size_t>(shape.outputs), random);
    const ReferenceTensor added = random_tensor(shape.outputs, width, height, random);
    Guarded<float> added_buffer(context_, laid_out(added, planes));
    Guarded<float> out(context_, planes.elements(shape.outputs));
    const Buffer<float>* add_buffer = add ? &*added_buffer : nullptr;
    if (depthwise) {
      NetworkDepthwise conv(context_, shape, op.weights, op.bias);
      conv(planes, *buffers.front(), add_buffer, *out);
    } else {
      NetworkConv conv(context_, shape, op.weights, op.bias);
      std::vector<ConvolutionInput> reads;
      for (std::size_t i = 0; i < inputs.size(); ++i) reads.push_back({*buffers[i], inputs[i]});
      if (tile != nullptr) {
        conv.run(*tile, planes, reads, add_buffer, *out);
      } else {
        conv(planes, reads, add_buffer, *out);
      }
    }

    std::vector<const ReferenceTensor*> all;
    std::vector<ReferenceTensor> all_magnitudes;
    for (const ReferenceTensor& tensor : tensors) {
      all.push_back(&tensor);
      all_magnitudes.push_back(magnitudes(tensor));
    }
    std::vector<const ReferenceTensor*> all_absolute;
    for (const ReferenceTensor& tensor : all_magnitudes) all_absolute.push_back(&tensor);
    const ReferenceTensor expected =
        reference_operation(op, all, add ? &added : nullptr, width, height);
    NetworkOp absolute = op;
    for (float& weight : absolute.weights) weight = std::abs(weight);
    for (float& bias : absolute.bias) bias = std::abs(bias);
    const ReferenceTensor added_magnitude = magnitudes(added);
    ReferenceTensor allowed = reference_operation(absolute, all_absolute,
                                                  add ? &added_magnitude : nullptr, width, height);
    // A sum of so many products, the bias and what is added.
    const double terms = static_cast<double>(inner * taps) + 2;
    for (double& value : allowed.values) value *= terms * kEpsilon;
    expect_tensor(out.values(), planes, expected, allowed);
  }

  void expect_resizing(int channels, int width, int height) {
    SCOPED_TRACE(::testing::Message() << width << "x" << height);
    std::mt19937 random(static_cast<unsigned>(width * 3 + height));
    const NetworkPlanes fine = network_planes(width, height, 2);
    const NetworkPlanes coarse = network_planes((width + 1) / 2, (height + 1) / 2, 1);
    {
      // Negative values, so that the zeros around them would show.
      ReferenceTensor tensor = random_tensor(channels, width, height, random);
      for (double& value : tensor.values) value = static_cast<float>(value - 8);
      Guarded<float> in(context_, laid_out(tensor, fine));
      Guarded<float> out(context_, coarse.elements(channels));
      launch_network_pool(context_, fine, *in, coarse, *out, channels);
      NetworkOp op;
      op.kind = NetworkOpKind::kMaxPool;
      expect_tensor(out.values(), coarse, reference_operation(op, {&tensor}, nullptr, 0, 0),
                    ReferenceTensor(channels, coarse.width, coarse.height));
    }
    const ReferenceTensor tensor = random_tensor(channels, coarse.width, coarse.height, random);
    Guarded<float> in(context_, laid_out(tensor, coarse));
    Guarded<float> out(context_, fine.elements(channels));
    launch_network_upsample(context_, coarse, *in, fine, *out, channels);
    NetworkOp op;
    op.kind = NetworkOpKind::kUpsample;
    const ReferenceTensor sizes = magnitudes(tensor);
    ReferenceTensor allowed = reference_operation(op, {&sizes}, nullptr, width, height);
    for (double& value : allowed.values) value *= 4 * kEpsilon;  // Four products.
    expect_tensor(out.values(), fine, reference_operation(op, {&tensor}, nullptr, width, height),
                  allowed);
  }

  Context context_{testing::test_device()};
};

// Small enough for a simulated device that watches every access.
class TinyNetwork : public NetworkKernels {};

constexpr int kSizes[][2] = {{1, 1}, {1, 7}, {7, 1}, {2, 2}, {15, 3}, {16, 2}, {17, 13}, {97, 11}};

TEST_F(NetworkKernels, ConvolutionMatchesTheReference) {
  for (const auto& [width, height] : kSizes) {
    for (const int kernel : {1, 3}) {
      expect_convolution({3}, {.outputs = 16, .kernel = kernel, .relu = true}, false, width,
                         height);
      expect_convolution({5, 2, 1, 4}, {.outputs = 9, .kernel = kernel}, true, width, height);
    }
    expect_convolution({6}, {.outputs = 1, .kernel = 3, .dilation = 4}, false, width, height);
    expect_convolution({8, 3}, {.outputs = 8, .kernel = 3, .dilation = 2, .relu = true}, true,
                       width, height);
  }
}

TEST_F(NetworkKernels, EveryTileGivesTheSame) {
  for (const RowTile& row : {RowTile{1, 1, 32}, RowTile{1, 4, 32}, RowTile{4, 1, 1},
                             RowTile{8, 1, 1}, RowTile{16, 2, 1}}) {
    SCOPED_TRACE(::testing::Message() << row.lanes << " lanes, " << row.vectors << " vectors");
    const ConvolutionTile tile = row;
    expect_convolution({3, 4}, {.outputs = 9, .kernel = 3, .dilation = 2, .relu = true}, true, 33,
                       5, false, &tile);
    expect_convolution({3}, {.outputs = 8, .kernel = 1}, false, 130, 2, false, &tile);
  }
}

TEST_F(NetworkKernels, EveryPatchThatTheNetworksTakeOnAGpuGivesTheSame) {
  DeviceInfo device = context_.info();
  device.kind = DeviceKind::kGpu;
  device.dedicated_local_memory = true;
  std::vector<std::pair<PatchTile, ConvolutionShape>> taken;
  for (const EmbeddedBytes& file : embedded_networks()) {
    const auto network = load_network(std::string(file.name));
    for (const NetworkOp& op : network->ops) {
      if (op.kind != NetworkOpKind::kConvolution) continue;
      const NetworkTensor& out = network->tensors[static_cast<std::size_t>(op.output)];
      const ConvolutionShape shape{
          .outputs = out.channels, .kernel = op.kernel, .dilation = op.dilation};
      for (const auto& [width, height] : {std::pair(101, 67), {529, 369}, {1499, 997}}) {
        const ConvolutionTile tile =
            network_conv_tile(device, 1, shape, planes_at(*network, out.level, width, height));
        const auto* patch = std::get_if<PatchTile>(&tile);
        const auto same = [&](const auto& other) {
          return patch != nullptr && other.first == *patch && other.second.kernel == op.kernel &&
                 other.second.dilation == op.dilation;
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
    expect_convolution({5, 14}, odd, true, 67, 19, false, &tile);
    odd.outputs = 1;
    odd.relu = false;
    for (const auto& [width, height] : kSizes) {
      expect_convolution({3}, odd, false, width, height, false, &tile);
    }
  }
}

TEST_F(NetworkKernels, DepthwiseMatchesTheReference) {
  for (const auto& [width, height] : kSizes) {
    expect_convolution({5}, {.outputs = 5, .kernel = 3, .relu = true}, true, width, height, true);
    expect_convolution({3}, {.outputs = 3, .kernel = 3, .dilation = 5}, false, width, height, true);
    expect_convolution({2}, {.outputs = 2, .kernel = 1}, true, width, height, true);
  }
}

TEST_F(NetworkKernels, ResizingMatchesTheReference) {
  for (const auto& [width, height] : kSizes) expect_resizing(3, width, height);
}

TEST_F(TinyNetwork, InputIsAPartOfTheResizedPictureAroundZero) {
  struct Case {
    int width, height, scaled_width, scaled_height, border, left, top;
  };
  for (const Case& c :
       {Case{20, 9, 20, 9, 0, 11, 4}, Case{20, 9, 10, 5, 2, 3, 1}, Case{20, 9, 7, 3, 4, 8, 6},
        Case{5, 3, 11, 7, 1, 0, 0}, Case{1, 1, 1, 1, 5, 4, 6}, Case{1, 17, 1, 6, 3, 0, 5},
        Case{2, 2, 3, 3, 9, 14, 16}, Case{13, 1, 26, 1, 2, 23, 0}}) {
    for (const int channels : {1, 3}) {
      SCOPED_TRACE(::testing::Message()
                   << c.width << "x" << c.height << "x" << channels << " to " << c.scaled_width
                   << "x" << c.scaled_height << " and " << c.border);
      std::mt19937 random(3);
      std::uniform_real_distribution<float> uniform(0.0f, 1.0f);
      Image image{c.width, c.height, channels, {}, {}, {}};
      image.pixels.resize(image.pixel_count() * static_cast<std::size_t>(channels));
      for (float& value : image.pixels) value = uniform(random);
      Guarded<float> pixels(context_, image.pixels);
      const int width = std::min(7, c.scaled_width + 2 * c.border - c.left);
      const int height = std::min(5, c.scaled_height + 2 * c.border - c.top);
      const NetworkPlanes planes = network_planes(width, height, 1);
      Guarded<float> out(context_, planes.elements(3));
      launch_network_input(
          context_,
          {*pixels, channels, c.width, c.height, c.scaled_width, c.scaled_height, c.border}, c.left,
          c.top, planes, *out);
      const std::vector<float> seen =
          reference_picture(image, c.scaled_width, c.scaled_height, c.border);
      const int row = c.scaled_width + 2 * c.border;
      ReferenceTensor expected(3, width, height);
      ReferenceTensor allowed(3, width, height);
      for (int channel = 0; channel < 3; ++channel) {
        for (int y = 0; y < height; ++y) {
          for (int x = 0; x < width; ++x) {
            const auto at = (channel * (c.scaled_height + 2 * c.border) + y + c.top) * row;
            const double value = seen[static_cast<std::size_t>(at + x + c.left)];
            expected.at(channel, x, y) = 4 * (value - 0.5);
            // Up to 16 products, with weights of absolute sum below 2, of values up to 1.
            allowed.at(channel, x, y) = 4 * 40 * kEpsilon;
          }
        }
      }
      expect_tensor(out.values(), planes, expected, allowed);
    }
  }
}

TEST_F(TinyNetwork, OutputIsLogisticAndGoesToItsPlace) {
  std::mt19937 random(4);
  const NetworkPlanes planes = network_planes(9, 6, 3);
  ReferenceTensor logits = random_tensor(1, 9, 6, random);
  logits.at(0, 3, 2) = -200;
  logits.at(0, 4, 2) = 200;
  Guarded<float> in(context_, laid_out(logits, planes));
  Guarded<float> map(context_, std::vector<float>(13 * 11, -1.0f));
  launch_network_output(context_, planes, *in, {2, 1, 5, 6, 4, 3}, {*map, 13, 11});
  const std::vector<float> values = map.values();
  for (int y = 0; y < 11; ++y) {
    for (int x = 0; x < 13; ++x) {
      const bool inside = x >= 5 && x < 9 && y >= 6 && y < 9;
      const double expected = inside ? 1 / (1 + std::exp(-logits.at(0, x - 5 + 2, y - 6 + 1))) : -1;
      EXPECT_NEAR(values[static_cast<std::size_t>(y * 13 + x)], expected, 8 * kEpsilon);
    }
  }
}

TEST_F(TinyNetwork, BlendAveragesResizedMapsWhereThereIsData) {
  std::mt19937 random(5);
  const CueLayout layout{11, 7, 14};
  std::vector<std::uint8_t> valid(14 * 7, 1);
  for (const std::size_t hole : {0u, 15u, 40u}) valid[hole] = 0;
  Guarded<std::uint8_t> mask(context_, valid);
  Guarded<float> strength(context_, 14 * 7);
  std::vector<double> expected(14 * 7, 0.0);
  bool first = true;
  for (const auto& [width, height] :
       {std::pair(11, 7), std::pair(5, 3), std::pair(1, 1), std::pair(23, 15)}) {
    const std::vector<float> values =
        random_values(static_cast<std::size_t>(width * height), random);
    Guarded<float> map(context_, values);
    launch_network_blend(context_, {*map, width, height}, layout, *mask, 0.25f, first, *strength);
    first = false;
    const auto at = [&](int x, int y) {
      return static_cast<double>(values[static_cast<std::size_t>(std::min(y, height - 1) * width +
                                                                 std::min(x, width - 1))]);
    };
    for (int y = 0; y < 7; ++y) {
      for (int x = 0; x < 11; ++x) {
        if (valid[static_cast<std::size_t>(y * 14 + x)] == 0) continue;
        const double u = std::clamp((x + 0.5) * width / 11 - 0.5, 0.0, width - 1.0);
        const double v = std::clamp((y + 0.5) * height / 7 - 0.5, 0.0, height - 1.0);
        const int left = static_cast<int>(u);
        const int top = static_cast<int>(v);
        const double above = at(left, top) + (u - left) * (at(left + 1, top) - at(left, top));
        const double below =
            at(left, top + 1) + (u - left) * (at(left + 1, top + 1) - at(left, top + 1));
        expected[static_cast<std::size_t>(y * 14 + x)] +=
            0.25 * (above + (v - top) * (below - above));
      }
    }
  }
  const std::vector<float> found = strength.values();
  // Positions up to 23 are off by a few roundings, values are about 1 and differ by as much.
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 200 * kEpsilon);
}

TEST_F(TinyNetwork, OperationsMatchTheReference) {
  const ConvolutionTile rows = RowTile{1, 2, 32};
  expect_convolution({2, 1}, {.outputs = 9, .kernel = 3, .dilation = 2, .relu = true}, true, 5, 3,
                     false, &rows);
  expect_convolution({1}, {.outputs = 1, .kernel = 1}, false, 1, 1, false, &rows);
  expect_convolution({2}, {.outputs = 3, .kernel = 3}, false, 17, 3, false, &rows);
  expect_convolution({2}, {.outputs = 2, .kernel = 3}, true, 3, 4, true);
  expect_resizing(2, 5, 3);
}

class TinyNetworkPatch : public NetworkKernels {};

TEST_F(TinyNetworkPatch, SeesAsFarAsItMay) {
  // Shares with and without work, two rounds of giving sums away, a cut depth.
  const ConvolutionTile tile = PatchTile{
      .channels = 4, .down = 1, .columns = 3, .rows = 3, .blocks = 2, .shares = 4, .depth = 6};
  for (const auto& [width, height] : {std::pair(1, 1), {3, 5}, {14, 4}}) {
    expect_convolution({3, 7},
                       {.outputs = 9, .kernel = 3, .dilation = PatchTile::kMaxReach, .relu = true},
                       true, width, height, false, &tile);
  }
}

}  // namespace
}  // namespace diacut
