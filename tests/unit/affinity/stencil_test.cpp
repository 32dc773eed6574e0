#include "matrix/stencil.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "affinity/affinity.hpp"
#include "matrix/dia_matrix.hpp"

namespace diacut {
namespace {

TEST(Stencil, HasTheOffsetsOfItsDiscsInReadingOrder) {
  for (const std::vector<int>& strides : {std::vector{1}, std::vector{1, 2, 4}}) {
    for (int radius = 0; radius <= 10; ++radius) {
      const Stencil stencil = strided_stencil(radius, strides);
      const int reach = radius * strides.back();
      EXPECT_EQ(stencil.radius, reach);
      EXPECT_EQ(stencil.disc_radius, radius);
      EXPECT_EQ(stencil.is_disc(), strides.size() == 1);
      std::vector<StencilOffset> expected;
      for (int dy = -reach; dy <= reach; ++dy) {
        for (int dx = -reach; dx <= reach; ++dx) {
          const auto is_in = [&](int stride) {
            return dx % stride == 0 && dy % stride == 0 &&
                   dx * dx + dy * dy <= stride * stride * radius * radius;
          };
          if (!std::any_of(strides.begin(), strides.end(), is_in)) continue;
          const std::size_t k = expected.size();
          expected.push_back({dx, dy});
          EXPECT_EQ(stencil.in_disc({dx, dy}), is_in(1));
          EXPECT_EQ(stencil.entries.at(stencil.opposite(k)), (StencilOffset{-dx, -dy}));
        }
      }
      EXPECT_EQ(stencil.entries, expected);
      EXPECT_EQ(stencil.entries[stencil.centre()], (StencilOffset{0, 0}));
    }
  }
  EXPECT_EQ(disc_stencil(5).size(), 81u);
}

TEST(DiaPitch, HoldsTheRowsAlignedAndOffPages) {
  for (std::size_t rows : {1u, 31u, 32u, 33u, 1024u, 1u << 20, 154401u, 4096u * 4096u}) {
    const std::size_t pitch = dia_pitch(rows);
    EXPECT_GE(pitch, rows);
    EXPECT_LT(pitch, rows + 64);
    EXPECT_EQ(pitch % 32, 0u);
    EXPECT_NE(pitch % 1024, 0u);
  }
  EXPECT_EQ(dia_pitch(154401), 154432u);
}

TEST(Bresenham, RoundsTheLineAndHalvesAwayFromItsStart) {
  for (int dy = -10; dy <= 10; ++dy) {
    for (int dx = -10; dx <= 10; ++dx) {
      const int steps = std::max(std::abs(dx), std::abs(dy));
      std::vector<StencilOffset> expected;
      for (int step = 1; step <= steps; ++step) {
        const auto at = [&](int end) {
          return static_cast<int>(std::lround(static_cast<double>(step * end) / steps));
        };
        expected.push_back({at(dx), at(dy)});
      }
      EXPECT_EQ(bresenham({dx, dy}), expected) << dx << ", " << dy;
    }
  }
}

}  // namespace
}  // namespace diacut
