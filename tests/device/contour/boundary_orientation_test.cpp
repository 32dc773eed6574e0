#include "contour/boundary_orientation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <utility>
#include <vector>

#include "guarded.hpp"
#include "shared_context.hpp"

namespace diacut::testing {
namespace {

/// Strengths in [0, 1], a quarter of them 0; NaN between the width and the stride, which nothing
/// may take in.
struct Map {
  Grid grid;
  std::vector<float> pixels;
  std::vector<float> elements;
};

Map random_map(const Grid& grid) {
  Map map{grid, {}, std::vector<float>(grid.rows(), NAN)};
  std::mt19937 bits(static_cast<unsigned>(7 * grid.width + grid.height));
  std::uniform_real_distribution<float> unit(0, 1);
  for (std::size_t i = 0; i < grid.pixels(); ++i) {
    const float value = unit(bits);
    map.pixels.push_back(value < 0.25F ? 0.0F : value);
    const auto width = static_cast<std::size_t>(grid.width);
    map.elements[i / width * static_cast<std::size_t>(grid.stride) + i % width] = map.pixels.back();
  }
  return map;
}

/// Each second derivative is a sum of 13 products of 13: fewer than 30 roundings on any path, that
/// of the weights included, of terms that add up to at most 4 / 25, the most that two differences
/// of the triangle have of weight. The angle of an eigenvector is that of the vector (xx - yy, 2
/// xy) halved, which is off by the derivatives' errors, four of them at most, and a sine by 8 units
/// in the last place of atan2.
void expect_directions(const Map& map, const std::vector<float>& elements) {
  const Curvature expected = reference_curvature(map.pixels, map.grid.width, map.grid.height);
  const double unit = 0x1p-24;
  const double each = 30 * unit * 4 / 25;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < map.pixels.size(); ++i) {
    const auto width = static_cast<std::size_t>(map.grid.width);
    const double found =
        elements[i / width * static_cast<std::size_t>(map.grid.stride) + i % width];
    double a = expected.xx[i] - expected.yy[i];
    double b = 2 * expected.xy[i];
    const double sum = expected.xx[i] + expected.yy[i];
    if (sum < 0) {
      a = -a;
      b = -b;
    }
    const double length = std::hypot(a, b);
    const double across = a * std::sin(2 * found) - b * std::cos(2 * found);
    const double along = a * std::cos(2 * found) + b * std::sin(2 * found);
    const double allowed = 4 * each + 16 * unit * length;
    // Where the sum may have either sign, either direction will do.
    const bool either = std::abs(sum) <= 2 * each;
    const bool ok = found >= 0 && found < std::numbers::pi && std::abs(across) <= allowed &&
                    (either || along >= -allowed);
    if (!ok && ++wrong < 4) {
      ADD_FAILURE() << "pixel " << i % width << ", " << i / width << ": " << found << ", expected "
                    << std::atan2(b, a) / 2;
    }
  }
  EXPECT_EQ(wrong, 0u);
}

/// The kernels with the filters that the stage gives them, by way of guarded buffers.
void check(const Grid& grid) {
  SCOPED_TRACE(::testing::Message()
               << grid.width << "x" << grid.height << ", stride " << grid.stride);
  const Map map = random_map(grid);
  Guarded<float> strength(context(), map.elements);
  expect_directions(map, boundary_orientation(context(), grid, *strength).download());
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
  const Map map = random_map(grid);
  expect_directions(map, boundary_orientation(map.pixels, grid.width, grid.height));
}

TEST(BoundaryOrientationOnTheDevice, IsZeroWhereTheMapIs) {
  const Grid grid{40, 30, 40};
  auto strength = context().allocate<float>(grid.rows(), "strength");
  strength.fill(0);
  EXPECT_EQ(boundary_orientation(context(), grid, strength).download(),
            std::vector<float>(grid.rows(), 0.0F));
}

TEST(BoundaryOrientationOnTheDevice, WritesNoMoreThanItShould) {
  const Map map = random_map({19, 11, 19});
  Guarded<float> strength(context(), map.elements);
  Guarded<float> orientation(context(), map.grid.rows());
  // Filters of three weights: the value itself, a difference and a second difference.
  BoundaryOrientation kernels(context(), {19, 11, 19}, {0, 1, 0, -0.5F, 0, 0.5F, 1, -2, 1});
  kernels.launch(*strength, *orientation);
  const std::vector<float> found = orientation.values();
  testing::expect_numbers(found);
  const auto at = [&](std::size_t x, std::size_t y) {
    return static_cast<double>(map.pixels[y * 19 + x]);
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
