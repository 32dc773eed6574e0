#include <gtest/gtest.h>

#include <algorithm>

#include "boundary/network/picture_kernels.hpp"
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

}  // namespace
}  // namespace diacut::testing
