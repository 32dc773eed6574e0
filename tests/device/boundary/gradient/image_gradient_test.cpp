#include "boundary/gradient/image_gradient.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "gradient_planes.hpp"
#include "support.hpp"

namespace diacut {
namespace {

using testing::Guarded;

TEST(ImageGradient, StaysWithinItsBuffers) {
  Context context(testing::test_device());
  for (const Grid& grid : testing::kGradientGrids) {
    for (const std::size_t radius : {1, 3, 6}) {
      SCOPED_TRACE(::testing::Message()
                   << grid.width << "x" << grid.height << " radius " << radius);
      const std::vector<std::uint8_t> mask = testing::mask_with_holes(grid);
      Guarded<std::uint8_t> valid(context, mask);
      Guarded<float> plane(context, testing::random_plane(grid, 0, 100, 31));
      Guarded<float> smooth(context, grid.pixels());
      Guarded<float> slope(context, grid.pixels());
      Guarded<float> magnitude(context, grid.pixels());
      const std::vector<float> unset(grid.pixels(), NAN);
      testing::GuardedTensor tensor(context, unset, unset, unset);

      ImageGradient gradient(context, grid, std::vector<float>(radius + 1, 0.1f),
                             std::vector<float>(radius, 0.1f));
      gradient.fill(*plane, *valid);
      gradient.add_channel(*plane, *smooth, *slope, *tensor, true);
      gradient.add_channel(*plane, *smooth, *slope, *tensor, false);
      gradient.magnitude(*tensor, *valid, *magnitude);
      for (Guarded<float>* buffer : {&plane, &smooth, &slope, &magnitude}) {
        testing::expect_numbers(buffer->values());
      }
      tensor.expect_numbers();
      EXPECT_EQ(valid.values(), mask);
    }
  }
}

}  // namespace
}  // namespace diacut
