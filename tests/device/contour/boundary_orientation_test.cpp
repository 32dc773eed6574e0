// The orientation of boundaries: the known answer of lib/doctor at awkward sizes.
#include "contour/boundary_orientation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "doctor/checks.hpp"
#include "guarded.hpp"
#include "right.hpp"
#include "shared_context.hpp"

namespace diacut::testing {
namespace {

void check(const Grid& grid) {
  SCOPED_TRACE(::testing::Message()
               << grid.width << "x" << grid.height << ", stride " << grid.stride);
  expect_right(context(), [&](Trial& trial) { check_orientations(trial, grid); });
}

TEST(TinyBoundaryOrientation, AwkwardSizes) {
  for (const auto& [width, height] : {std::pair(1, 1), {1, 5}, {5, 1}, {2, 2}, {13, 3}, {23, 9}}) {
    check({width, height, width});
    check({width, height, width + 3});
  }
}

TEST(BoundaryOrientationOnTheDevice, SizesAboutAWorkGroup) {
  for (const int width : {63, 64, 65, 511, 512, 513}) {
    check({width, 5, width});
    check({width, 17, width + 5});
  }
}

TEST(BoundaryOrientationOnTheDevice, IsTheHostsUpToRounding) {
  const Grid grid{131, 101, 131};
  check(grid);
  expect_right(context(), [&](Trial& trial) {
    std::vector<float> map = trial.uniform(grid.pixels());
    for (float& value : map) value = value < 0.25F ? 0.0F : value;
    expect_orientations(trial, map, grid, boundary_orientation(map, grid.width, grid.height));
  });
}

TEST(BoundaryOrientationOnTheDevice, IsZeroWhereTheMapIs) {
  const Grid grid{40, 30, 40};
  auto strength = context().allocate<float>(grid.rows(), "strength");
  strength.fill(0);
  EXPECT_EQ(boundary_orientation(context(), grid, strength).download(),
            std::vector<float>(grid.rows(), 0.0F));
}

TEST(BoundaryOrientationOnTheDevice, TakesOtherFilters) {
  const Grid grid{19, 11, 19};
  const std::vector<float> map = Trial(context()).uniform(grid.pixels());
  Guarded<float> orientation(context(), grid.rows());
  // Filters of three weights: the value itself, a difference and a second difference.
  BoundaryOrientation kernels(context(), grid, {0, 1, 0, -0.5F, 0, 0.5F, 1, -2, 1});
  kernels.launch(*Guarded<float>(context(), map), *orientation);
  const std::vector<float> found = orientation.values();
  expect_numbers(found);
  const auto at = [&](std::size_t x, std::size_t y) {
    return static_cast<double>(map[y * 19 + x]);
  };
  const double xx = at(6, 5) - 2 * at(5, 5) + at(4, 5);
  const double yy = at(5, 6) - 2 * at(5, 5) + at(5, 4);
  const double xy = (at(6, 6) - at(4, 6) - at(6, 4) + at(4, 4)) / 4;
  const double sign = xx + yy < 0 ? -1 : 1;
  const double angle = std::atan2(sign * 2 * xy, sign * (xx - yy)) / 2;
  EXPECT_NEAR(found[5 * 19 + 5], angle < 0 ? angle + std::numbers::pi : angle, 1e-5);
}

}  // namespace
}  // namespace diacut::testing
