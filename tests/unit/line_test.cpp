#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "affinity/affinity_kernels.hpp"

namespace diacut {
namespace {

TEST(Bresenham, KnownLines) {
  EXPECT_TRUE(bresenham({0, 0}).empty());
  EXPECT_EQ(bresenham({1, 0}), (std::vector<StencilOffset>{{1, 0}}));
  EXPECT_EQ(bresenham({-2, 2}), (std::vector<StencilOffset>{{-1, 1}, {-2, 2}}));
  EXPECT_EQ(bresenham({5, 2}),
            (std::vector<StencilOffset>{{1, 0}, {2, 1}, {3, 1}, {4, 2}, {5, 2}}));
  EXPECT_EQ(bresenham({1, 3}), (std::vector<StencilOffset>{{0, 1}, {1, 2}, {1, 3}}));
  // A half goes away from the start, to either side.
  EXPECT_EQ(bresenham({2, 1}), (std::vector<StencilOffset>{{1, 1}, {2, 1}}));
  EXPECT_EQ(bresenham({-2, 1}), (std::vector<StencilOffset>{{-1, 1}, {-2, 1}}));
  EXPECT_EQ(bresenham({-1, 2}), (std::vector<StencilOffset>{{-1, 1}, {-1, 2}}));
}

TEST(Bresenham, StaysWithinHalfAPixelOfTheLine) {
  for (int dy = -10; dy <= 10; ++dy) {
    for (int dx = -10; dx <= 10; ++dx) {
      const int steps = std::max(std::abs(dx), std::abs(dy));
      const std::vector<StencilOffset> line = bresenham({dx, dy});
      ASSERT_EQ(line.size(), static_cast<std::size_t>(steps));
      StencilOffset before{0, 0};
      for (int step = 1; step <= steps; ++step) {
        const StencilOffset at = line[static_cast<std::size_t>(step - 1)];
        const double share = static_cast<double>(step) / steps;
        EXPECT_LE(std::abs(at.dx - share * dx), 0.5);
        EXPECT_LE(std::abs(at.dy - share * dy), 0.5);
        EXPECT_EQ(std::max(std::abs(at.dx - before.dx), std::abs(at.dy - before.dy)), 1);
        before = at;
      }
      if (steps > 0) {
        EXPECT_EQ(line.back(), (StencilOffset{dx, dy}));
      }
    }
  }
}

TEST(Bresenham, IsMirroredByNegation) {
  for (int dy = 0; dy <= 10; ++dy) {
    for (int dx = -10; dx <= 10; ++dx) {
      const std::vector<StencilOffset> line = bresenham({dx, dy});
      const std::vector<StencilOffset> mirrored = bresenham({-dx, dy});
      ASSERT_EQ(line.size(), mirrored.size());
      for (std::size_t i = 0; i < line.size(); ++i) {
        EXPECT_EQ(line[i].dx, -mirrored[i].dx);
        EXPECT_EQ(line[i].dy, mirrored[i].dy);
      }
    }
  }
}

}  // namespace
}  // namespace diacut
