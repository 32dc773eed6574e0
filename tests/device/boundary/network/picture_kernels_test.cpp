// How networks get pictures, and what becomes of their results.
#include "boundary/network/picture_kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "drawn_image.hpp"
#include "guarded.hpp"
#include "network_tensors.hpp"
#include "support.hpp"

namespace diacut::testing {
namespace {

TEST(TinyNetworkInput, IsAPartOfTheResizedPictureAroundZero) {
  Context context(testing::test_device());
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
      const Image image = noise_image(c.width, c.height, channels, 3);
      Guarded<float> pixels(context, image.pixels);
      const int width = std::min(7, c.scaled_width + 2 * c.border - c.left);
      const int height = std::min(5, c.scaled_height + 2 * c.border - c.top);
      const NetworkPlanes planes = network_planes(width, height, 1);
      Guarded<float> out(context, planes.elements(3));
      launch_network_input(
          context,
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

TEST(TinyNetworkInput, IsATurnedPicture) {
  Context context(testing::test_device());
  const Image image = noise_image(5, 3, 3, 3);
  Guarded<float> pixels(context, image.pixels);
  const int border = 4;
  const std::vector<float> upright = reference_picture(image, 5, 3, border);
  for (const Turn& turn : network_turns(8)) {
    const int width = (turn.transposed ? 3 : 5) + 2 * border;
    const int height = (turn.transposed ? 5 : 3) + 2 * border;
    const NetworkPlanes planes = network_planes(width, height, 1);
    Guarded<float> out(context, planes.elements(3));
    launch_network_input(context, {*pixels, 3, 5, 3, 5, 3, border, turn}, 0, 0, planes, *out);
    ReferenceTensor expected(3, width, height);
    ReferenceTensor allowed(3, width, height);
    for (int channel = 0; channel < 3; ++channel) {
      for (int v = 0; v < height; ++v) {
        for (int u = 0; u < width; ++u) {
          int x = turn.transposed ? v : u;
          int y = turn.transposed ? u : v;
          if (turn.mirrored_x) x = 5 + 2 * border - 1 - x;
          if (turn.mirrored_y) y = 3 + 2 * border - 1 - y;
          const auto at = (channel * (3 + 2 * border) + y) * (5 + 2 * border) + x;
          expected.at(channel, u, v) = 4 * (upright[static_cast<std::size_t>(at)] - 0.5);
          allowed.at(channel, u, v) = 4 * kEpsilon;
        }
      }
    }
    expect_tensor(out.values(), planes, expected, allowed);
  }
}

void expect_upsampling(Context& context, int channels, int width, int height) {
  SCOPED_TRACE(::testing::Message() << width << "x" << height);
  std::mt19937 random(static_cast<unsigned>(width * 3 + height));
  const NetworkPlanes fine = network_planes(width, height, 2);
  const NetworkPlanes coarse = network_planes((width + 1) / 2, (height + 1) / 2, 1);
  const ReferenceTensor tensor = random_tensor(channels, coarse.width, coarse.height, random);
  Guarded<float> in(context, laid_out(tensor, coarse));
  Guarded<float> out(context, fine.elements(channels));
  launch_network_upsample(context, coarse, *in, fine, *out, channels);
  NetworkOp op;
  op.kind = NetworkOpKind::kUpsample;
  const ReferenceTensor sizes = magnitudes(tensor);
  ReferenceTensor allowed = reference_operation(op, sizes, nullptr, width, height);
  for (double& value : allowed.values) value *= 4 * kEpsilon;  // Four products.
  expect_tensor(out.values(), fine, reference_operation(op, tensor, nullptr, width, height),
                allowed);
}

TEST(NetworkUpsample, MatchesTheReference) {
  Context context(testing::test_device());
  for (const auto& [width, height] : testing::kTensorSizes) {
    expect_upsampling(context, 3, width, height);
  }
}

TEST(TinyNetworkUpsample, MatchesTheReference) {
  Context context(testing::test_device());
  expect_upsampling(context, 2, 5, 3);
}

TEST(TinyNetworkOutput, IsLogisticAndGoesToItsPlace) {
  Context context(testing::test_device());
  std::mt19937 random(4);
  const NetworkPlanes planes = network_planes(9, 6, 3);
  ReferenceTensor logits = random_tensor(2, 9, 6, random);
  logits.at(0, 3, 2) = -200;
  logits.at(0, 4, 2) = 200;
  Guarded<float> in(context, laid_out(logits, planes));
  for (const int channel : {0, 1}) {
    Guarded<float> map(context, std::vector<float>(13 * 11, -1.0f));
    launch_network_output(context, planes, *in, channel, {2, 1, 5, 6, 4, 3}, {*map, 13, 11});
    const std::vector<float> values = map.values();
    for (int y = 0; y < 11; ++y) {
      for (int x = 0; x < 13; ++x) {
        const bool inside = x >= 5 && x < 9 && y >= 6 && y < 9;
        const double expected =
            inside ? 1 / (1 + std::exp(-logits.at(channel, x - 5 + 2, y - 6 + 1))) : -1;
        EXPECT_NEAR(values[static_cast<std::size_t>(y * 13 + x)], expected, 8 * kEpsilon);
      }
    }
  }
}

TEST(TinyNetworkBlend, AveragesResizedMapsWhereThereIsData) {
  Context context(testing::test_device());
  std::mt19937 random(5);
  const Grid grid{11, 7};
  std::vector<std::uint8_t> valid(grid.rows(), 1);
  for (const std::size_t hole : {0u, 15u, 40u}) valid[hole] = 0;
  Guarded<std::uint8_t> mask(context, valid);
  Guarded<float> boundary(context, grid.rows());
  std::vector<double> expected(grid.rows(), 0.0);
  bool first = true;
  for (const Grid& source : {Grid{11, 7}, {5, 3}, {1, 1}, {23, 15}}) {
    const int width = source.width;
    const int height = source.height;
    const std::vector<float> values =
        random_values(static_cast<std::size_t>(width * height), random);
    Guarded<float> map(context, values);
    launch_network_blend(context, {*map, width, height}, {}, grid, *mask, 0.25f, first, *boundary,
                         whole_picture(grid));
    first = false;
    const auto at = [&](int x, int y) {
      return static_cast<double>(values[static_cast<std::size_t>(std::min(y, height - 1) * width +
                                                                 std::min(x, width - 1))]);
    };
    for (int y = 0; y < 7; ++y) {
      for (int x = 0; x < 11; ++x) {
        if (valid[static_cast<std::size_t>(y * 11 + x)] == 0) continue;
        const double u = std::clamp((x + 0.5) * width / 11 - 0.5, 0.0, width - 1.0);
        const double v = std::clamp((y + 0.5) * height / 7 - 0.5, 0.0, height - 1.0);
        const int left = static_cast<int>(u);
        const int top = static_cast<int>(v);
        const double above = at(left, top) + (u - left) * (at(left + 1, top) - at(left, top));
        const double below =
            at(left, top + 1) + (u - left) * (at(left + 1, top + 1) - at(left, top + 1));
        expected[static_cast<std::size_t>(y * 11 + x)] +=
            0.25 * (above + (v - top) * (below - above));
      }
    }
  }
  const std::vector<float> found = boundary.values();
  // Positions up to 23 are off by a few roundings, values are about 1 and differ by as much.
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 200 * kEpsilon);
}

TEST(TinyNetworkBlend, TurnsMapsBack) {
  Context context(testing::test_device());
  std::mt19937 random(6);
  const Grid grid{5, 3};
  Guarded<std::uint8_t> mask(context, std::vector<std::uint8_t>(grid.rows(), 1));
  for (const Turn& turn : network_turns(8)) {
    Guarded<float> boundary(context, grid.rows());
    // A border of one pixel around the turned map.
    const int width = (turn.transposed ? 3 : 5) + 2;
    const int height = (turn.transposed ? 5 : 3) + 2;
    const std::vector<float> values =
        random_values(static_cast<std::size_t>(width * height), random);
    Guarded<float> map(context, values);
    launch_network_blend(context, {*map, width, height, 1}, turn, grid, *mask, 1.0f, true,
                         *boundary, whole_picture(grid));
    const std::vector<float> found = boundary.values();
    for (int v = 0; v < height - 2; ++v) {
      for (int u = 0; u < width - 2; ++u) {
        int x = turn.transposed ? v : u;
        int y = turn.transposed ? u : v;
        if (turn.mirrored_x) x = 4 - x;
        if (turn.mirrored_y) y = 2 - y;
        EXPECT_EQ(found[static_cast<std::size_t>(y * 5 + x)],
                  values[static_cast<std::size_t>((v + 1) * width + u + 1)]);
      }
    }
  }
}

}  // namespace
}  // namespace diacut::testing
