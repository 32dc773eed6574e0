#include "boundary/gradient/normalize.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "gradient_planes.hpp"
#include "support.hpp"

namespace diacut {
namespace {

using testing::Guarded;

TEST(GradientNormalize, DividesByTheLargerOfQuantileAndFloor) {
  Context context(testing::test_device());
  for (const Grid& grid : testing::kGradientGrids) {
    for (const float floor : {0.0f, 40.0f, 90.0f}) {
      SCOPED_TRACE(::testing::Message() << grid.width << "x" << grid.height << " floor " << floor);
      constexpr float kQuantile = 60;
      const std::vector<float> pixels = testing::random_plane(grid, 0, 100, 31);
      const std::vector<std::uint8_t> mask = testing::mask_with_holes(grid);
      Guarded<float> values(context, pixels);
      Guarded<std::uint8_t> valid(context, mask);
      Guarded<std::uint32_t> quantile(
          context, std::vector<std::uint32_t>{std::bit_cast<std::uint32_t>(kQuantile), 7});
      Guarded<float> boundary(context, grid.rows());
      launch_gradient_normalize(context, grid, *values, *valid, *quantile, floor, *boundary);
      const std::vector<float> found = boundary.values();
      for (std::size_t i = 0; i < found.size(); ++i) {
        const std::size_t x = i % static_cast<std::size_t>(grid.stride);
        const std::size_t pixel = i / static_cast<std::size_t>(grid.stride) * grid.width + x;
        const float expected =
            mask[i] == 0 ? 0.0f : std::min(1.0f, pixels[pixel] / std::max(kQuantile, floor));
        // One division, of which OpenCL allows 2.5 units in the last place.
        EXPECT_NEAR(found[i], expected, 3 * std::numeric_limits<float>::epsilon()) << i;
      }
    }
  }
}

}  // namespace
}  // namespace diacut
