#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "evaluate/ground_truth.hpp"

namespace diacut {
namespace {

using EvaluateThinningMask = std::vector<std::uint8_t>;

/// '#' is set.
EvaluateThinningMask mask_of(const std::vector<std::string>& rows) {
  EvaluateThinningMask mask;
  for (const std::string& row : rows) {
    for (const char c : row) mask.push_back(c == '#' ? 1 : 0);
  }
  return mask;
}

std::vector<std::string> drawn(const EvaluateThinningMask& mask, int width) {
  std::vector<std::string> rows;
  for (std::size_t i = 0; i < mask.size(); ++i) {
    if (i % static_cast<std::size_t>(width) == 0) rows.emplace_back();
    rows.back() += mask[i] != 0 ? '#' : '.';
  }
  return rows;
}

/// Pieces of the pixels of one value, 8-connected or 4-connected; outside the image is 0.
int pieces(const EvaluateThinningMask& mask, int width, int height, bool value, bool diagonally) {
  const int w = width + 2;
  const int h = height + 2;
  EvaluateThinningMask left(static_cast<std::size_t>(w * h), value ? 0 : 1);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const bool set = mask[static_cast<std::size_t>(y * width + x)] != 0;
      left[static_cast<std::size_t>((y + 1) * w + x + 1)] = set == value ? 1 : 0;
    }
  }
  int count = 0;
  for (int start = 0; start < w * h; ++start) {
    if (left[static_cast<std::size_t>(start)] == 0) continue;
    ++count;
    std::vector<int> stack = {start};
    left[static_cast<std::size_t>(start)] = 0;
    while (!stack.empty()) {
      const int at = stack.back();
      stack.pop_back();
      for (int dy = -1; dy <= 1; ++dy) {
        for (int dx = -1; dx <= 1; ++dx) {
          const int x = at % w + dx;
          const int y = at / w + dy;
          if (x < 0 || y < 0 || x >= w || y >= h || (!diagonally && dx != 0 && dy != 0)) continue;
          std::uint8_t& next = left[static_cast<std::size_t>(y * w + x)];
          if (next == 0) continue;
          next = 0;
          stack.push_back(y * w + x);
        }
      }
    }
  }
  return count;
}

TEST(Thinning, DrawsWhatAnotherImplementationDraws) {
  // The result is that of scikit-image's `thin`.
  const std::vector<std::string> before = {
      "..............",  //
      ".####....##...",  //
      ".####....##...",  //
      ".####.........",  //
      ".####..#......",  //
      ".......##.....",  //
      "..####.###....",  //
      "..#..#.####...",  //
      "..#..#.####...",  //
      "..####..##....",  //
      "...........##.",  //
      ".######...###.",  //
      "..............",  //
  };
  const std::vector<std::string> after = {
      "..............",  //
      "..............",  //
      ".........#....",  //
      "..#...........",  //
      ".......#......",  //
      ".......#......",  //
      "...##...#.....",  //
      "..#..#..#.....",  //
      "..#..#..#.....",  //
      "...##.........",  //
      "..............",  //
      ".######...##..",  //
      "..............",  //
  };
  EXPECT_EQ(drawn(thin(mask_of(before), 14, 13), 14), after);
}

TEST(Thinning, KeepsPiecesAndHolesAndLeavesNothingToThin) {
  std::mt19937 random(4);
  for (int round = 0; round < 60; ++round) {
    const int width = 1 + static_cast<int>(random() % 30);
    const int height = 1 + static_cast<int>(random() % 30);
    const std::uint64_t share = 20 + random() % 75;
    EvaluateThinningMask mask(static_cast<std::size_t>(width * height));
    for (std::uint8_t& value : mask) value = random() % 100 < share ? 255 : 0;
    const EvaluateThinningMask lines = thin(mask, width, height);
    ASSERT_EQ(lines.size(), mask.size());
    for (std::size_t i = 0; i < mask.size(); ++i) {
      ASSERT_LE(lines[i], 1);
      ASSERT_TRUE(lines[i] == 0 || mask[i] != 0);
    }
    EXPECT_EQ(pieces(lines, width, height, true, true), pieces(mask, width, height, true, true));
    EXPECT_EQ(pieces(lines, width, height, false, false),
              pieces(mask, width, height, false, false));
    EXPECT_EQ(thin(lines, width, height), lines);
  }
}

TEST(Thinning, ThinsABarToALineWithinIt) {
  for (const int thickness : {2, 3, 4, 9}) {
    EvaluateThinningMask mask(40 * 20, 0);
    for (int y = 5; y < 5 + thickness; ++y) {
      for (int x = 3; x < 37; ++x) mask[static_cast<std::size_t>(y * 40 + x)] = 1;
    }
    const EvaluateThinningMask line = thin(mask, 40, 20);
    for (int x = 12; x < 28; ++x) {
      int count = 0;
      for (int y = 0; y < 20; ++y) count += line[static_cast<std::size_t>(y * 40 + x)];
      EXPECT_EQ(count, 1) << thickness << " at " << x;
    }
  }
}

TEST(Thinning, LeavesTheSmallestAlone) {
  EXPECT_EQ(thin(EvaluateThinningMask{1}, 1, 1), EvaluateThinningMask{1});
  EXPECT_EQ(thin(EvaluateThinningMask{0}, 1, 1), EvaluateThinningMask{0});
  EXPECT_EQ(thin(EvaluateThinningMask(7, 1), 7, 1), EvaluateThinningMask(7, 1));
  EXPECT_EQ(thin(EvaluateThinningMask(7, 1), 1, 7), EvaluateThinningMask(7, 1));
}

}  // namespace
}  // namespace diacut
