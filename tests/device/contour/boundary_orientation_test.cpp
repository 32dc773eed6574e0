// The orientation of boundaries: the known answer of lib/judge/doctor at awkward sizes.
#include "contour/boundary_orientation.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "doctor/checks.hpp"
#include "right.hpp"
#include "shared_context.hpp"

namespace diacut::testing {
namespace {

void check(const Grid& grid) {
  SCOPED_TRACE(::testing::Message() << grid.width << "x" << grid.height);
  expect_right(context(), [&](Trial& trial) { check_orientations(trial, grid); });
}

TEST(TinyBoundaryOrientation, AwkwardSizes) {
  for (const auto& [width, height] : {std::pair(1, 1), {1, 5}, {5, 1}, {2, 2}, {13, 3}, {23, 9}}) {
    check({width, height});
  }
}

TEST(BoundaryOrientationOnTheDevice, SizesAboutAWorkGroup) {
  for (const int width : {63, 64, 65, 511, 512, 513}) {
    check({width, 5});
    check({width, 17});
  }
}

TEST(BoundaryOrientationOnTheDevice, IsTheHostsUpToRounding) {
  const Grid grid{131, 101};
  check(grid);
  expect_right(context(), [&](Trial& trial) {
    std::vector<float> map = trial.uniform(grid.rows());
    for (float& value : map) value = value < 0.25F ? 0.0F : value;
    expect_orientations(trial, map, grid, boundary_orientation(map, grid.width, grid.height));
  });
}

TEST(BoundaryOrientationOnTheDevice, IsZeroWhereTheMapIs) {
  const Grid grid{40, 30};
  auto strength = context().allocate<float>(grid.rows(), "strength");
  strength.fill(0);
  EXPECT_EQ(boundary_orientation(context(), grid, strength).download(),
            std::vector<float>(grid.rows(), 0.0F));
}

}  // namespace
}  // namespace diacut::testing
