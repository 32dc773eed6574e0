#include "boundary/gradient/thin.hpp"

#include <gtest/gtest.h>

#include "gradient_planes.hpp"
#include "support.hpp"

namespace diacut {
namespace {

using testing::Guarded;

TEST(GradientThin, StaysWithinItsBuffers) {
  Context context(testing::test_device());
  for (const Grid& grid : testing::kGradientGrids) {
    SCOPED_TRACE(::testing::Message() << grid.width << "x" << grid.height);
    const std::vector<float> steepness = testing::random_plane(grid, 0, 100, 31);
    Guarded<float> magnitude(context, steepness);
    Guarded<float> scratch(context, grid.pixels());
    Guarded<float> ridges(context, grid.pixels());
    testing::GuardedTensor tensor(context, testing::random_plane(grid, 0, 100, 32),
                                  testing::random_plane(grid, -50, 50, 33),
                                  testing::random_plane(grid, 0, 100, 34));
    launch_gradient_thin(context, grid, 0.1f, *magnitude, *tensor, *scratch, *ridges);
    EXPECT_EQ(magnitude.values(), steepness);
    testing::expect_numbers(scratch.values());
    testing::expect_numbers(ridges.values());
    tensor.expect_numbers();
  }
}

}  // namespace
}  // namespace diacut
