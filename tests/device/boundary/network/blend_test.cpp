#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>

#include "boundary/network/picture_kernels.hpp"
#include "guarded.hpp"
#include "network_tensors.hpp"
#include "support.hpp"

namespace diacut::testing {
namespace {

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
