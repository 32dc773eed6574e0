#include "matrix/stencil.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>
#include <utility>

#include "affinity/affinity.hpp"
#include "matrix/dia_matrix.hpp"

namespace diacut {
namespace {

TEST(Stencil, RadiusFiveHas81EntriesIn11Bands) {
  const Stencil stencil = disc_stencil(5);
  EXPECT_EQ(stencil.size(), 81u);
  std::set<int> bands;
  for (const StencilOffset& entry : stencil.entries) bands.insert(entry.dy);
  EXPECT_EQ(bands.size(), 11u);
}

TEST(Stencil, EntriesAreOppositeAroundTheCentre) {
  for (int radius = 0; radius <= 10; ++radius) {
    const Stencil stencil = disc_stencil(radius);
    EXPECT_EQ(stencil.entries[stencil.centre()], (StencilOffset{0, 0}));
    for (std::size_t k = 0; k < stencil.size(); ++k) {
      const StencilOffset a = stencil.entries[k];
      const StencilOffset b = stencil.entries[stencil.opposite(k)];
      EXPECT_EQ(a.dx, -b.dx);
      EXPECT_EQ(a.dy, -b.dy);
    }
  }
}

TEST(Stencil, StridesStretchDiscs) {
  const Stencil disc = disc_stencil(5);
  EXPECT_TRUE(disc.is_disc());
  EXPECT_EQ(strided_stencil(5, {1}).entries, disc.entries);
  const Stencil strided = strided_stencil(5, {1, 2, 4});
  EXPECT_FALSE(strided.is_disc());
  EXPECT_EQ(strided.radius, 20);
  EXPECT_EQ(strided.disc_radius, 5);
  EXPECT_EQ(strided.size(), 201u);
  std::set<std::pair<int, int>> expected;
  for (const int stride : {1, 2, 4}) {
    for (const StencilOffset& entry : disc.entries) {
      expected.emplace(entry.dy * stride, entry.dx * stride);
    }
  }
  std::set<std::pair<int, int>> found;
  std::pair<int, int> last{-100, 0};
  for (std::size_t k = 0; k < strided.size(); ++k) {
    const auto [dx, dy] = strided.entries[k];
    EXPECT_LT(last, std::pair(dy, dx));  // In reading order, each once.
    last = {dy, dx};
    found.insert(last);
    EXPECT_EQ(strided.entries[strided.opposite(k)], (StencilOffset{-dx, -dy}));
    EXPECT_EQ(strided.in_disc({dx, dy}), disc.index({dx, dy}) < disc.size());
  }
  EXPECT_EQ(found, expected);
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
