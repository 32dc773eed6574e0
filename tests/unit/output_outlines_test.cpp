#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "diacut/outlines.hpp"

namespace diacut {
namespace {

using ::testing::ElementsAre;

/// Labels from rows of digits.
Labels labels_of(const std::vector<std::string>& rows) {
  Labels labels;
  labels.height = static_cast<int>(rows.size());
  labels.width = static_cast<int>(rows.front().size());
  for (const std::string& row : rows) {
    for (const char c : row) {
      labels.values.push_back(c - '0');
      labels.count = std::max<std::int64_t>(labels.count, c - '0');
    }
  }
  return labels;
}

Labels noise(int width, int height, int count, unsigned seed) {
  std::mt19937 random(seed);
  Labels labels{width, height, count, {}};
  for (int i = 0; i < width * height; ++i) {
    labels.values.push_back(static_cast<std::int32_t>(random() % (count + 1U)));
  }
  return labels;
}

std::int64_t twice_area(std::span<const Corner> ring) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const Corner& a = ring[i];
    const Corner& b = ring[(i + 1) % ring.size()];
    sum += std::int64_t{a.x} * b.y - std::int64_t{b.x} * a.y;
  }
  return sum;
}

/// The pixels inside the rings of a region by the even-odd rule: a pixel is inside where the number
/// of upright sides to its left is odd.
std::vector<bool> filled(const Outlines& outlines, std::int64_t label) {
  std::vector<bool> inside(static_cast<std::size_t>(outlines.width * outlines.height), false);
  for (const Ring& ring : outlines.of(label)) {
    const std::span<const Corner> corners = outlines.of(ring);
    for (std::size_t i = 0; i < corners.size(); ++i) {
      const Corner& a = corners[i];
      const Corner& b = corners[(i + 1) % corners.size()];
      for (int y = std::min(a.y, b.y); a.x == b.x && y < std::max(a.y, b.y); ++y) {
        for (int x = a.x; x < outlines.width; ++x) {
          const auto at = static_cast<std::size_t>(y * outlines.width + x);
          inside[at] = !inside[at];
        }
      }
    }
  }
  return inside;
}

/// Expects that no point of the lattice is met twice, that steps run along an axis and turn at each
/// corner.
void expect_simple(std::span<const Corner> ring) {
  std::set<std::pair<int, int>> met;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const Corner& a = ring[i];
    const Corner& b = ring[(i + 1) % ring.size()];
    ASSERT_TRUE((a.x == b.x) != (a.y == b.y));
    EXPECT_EQ(a.y == b.y, i % 2 == 0) << "corner " << i << " is no turn";
    const int step_x = (b.x > a.x) - (b.x < a.x);
    const int step_y = (b.y > a.y) - (b.y < a.y);
    for (Corner at = a; at != b; at = {at.x + step_x, at.y + step_y}) {
      EXPECT_TRUE(met.emplace(at.x, at.y).second) << at.x << ", " << at.y << " is met twice";
    }
  }
}

void expect_outlines(const Labels& labels) {
  const Outlines outlines = trace_outlines(labels);
  ASSERT_EQ(outlines.first_ring.size(), static_cast<std::size_t>(labels.count) + 2);
  EXPECT_EQ(outlines.first_ring.back(), outlines.rings.size());
  for (std::int64_t label = 1; label <= labels.count; ++label) {
    std::int32_t piece = 0;
    for (const Ring& ring : outlines.of(label)) {
      EXPECT_EQ(ring.region, label);
      EXPECT_EQ(ring.hole, ring.piece == piece) << "an outer ring comes before its holes";
      piece = ring.piece;
      EXPECT_EQ(twice_area(outlines.of(ring)) < 0, ring.hole);
      expect_simple(outlines.of(ring));
    }
    const std::vector<bool> inside = filled(outlines, label);
    for (std::size_t i = 0; i < inside.size(); ++i) {
      ASSERT_EQ(inside[i], labels.values[i] == label) << "region " << label << ", pixel " << i;
    }
  }
}

TEST(Outlines, OnePixel) {
  const Outlines outlines = trace_outlines(labels_of({"000", "010", "000"}));
  ASSERT_EQ(outlines.rings.size(), 1u);
  EXPECT_FALSE(outlines.rings[0].hole);
  EXPECT_THAT(outlines.corners,
              ElementsAre(Corner{1, 1}, Corner{2, 1}, Corner{2, 2}, Corner{1, 2}));
}

TEST(Outlines, AHoleHasARingOfItsOwnThatTurnsTheOtherWay) {
  const Outlines outlines = trace_outlines(labels_of({"111", "121", "111"}));
  ASSERT_EQ(outlines.of(1).size(), 2u);
  EXPECT_THAT(outlines.of(outlines.of(1)[0]),
              ElementsAre(Corner{0, 0}, Corner{3, 0}, Corner{3, 3}, Corner{0, 3}));
  EXPECT_TRUE(outlines.of(1)[1].hole);
  EXPECT_EQ(twice_area(outlines.of(outlines.of(1)[1])), -2);
  EXPECT_EQ(outlines.of(2).size(), 1u);
}

TEST(Outlines, ARegionThatTouchesItselfAtACornerHasARingForEachSide) {
  // The two ends of region 1 touch at a corner and enclose region 2.
  const Labels labels = labels_of({"111", "120", "110", "031"});
  expect_outlines(labels_of({"1111", "1221", "1201", "1011"}));
  expect_outlines(labels);
  const Outlines outlines = trace_outlines(labels_of({"110", "101", "111"}));
  // Pixels (1, 0) and (2, 1) touch at (2, 1); what lies between belongs to a hole.
  ASSERT_EQ(outlines.of(1).size(), 2u);
  EXPECT_TRUE(outlines.of(1)[1].hole);
}

TEST(Outlines, PiecesThatTouchAtACornerStayApart) {
  const Outlines outlines = trace_outlines(labels_of({"12", "21"}));
  EXPECT_EQ(outlines.of(1).size(), 2u);
  EXPECT_EQ(outlines.of(2).size(), 2u);
  EXPECT_FALSE(outlines.of(1)[1].hole);
}

TEST(Outlines, NoRegionsHaveNoRings) {
  const Outlines outlines = trace_outlines(Labels{4, 3, 0, std::vector<std::int32_t>(12, 0)});
  EXPECT_TRUE(outlines.rings.empty());
  EXPECT_THAT(outlines.first_ring, ElementsAre(0u, 0u));
  expect_outlines(Labels{1, 1, 1, {1}});
}

TEST(Outlines, FilledByTheEvenOddRuleTheyAreTheRegions) {
  unsigned seed = 1;
  for (const int count : {1, 2, 3, 9}) {
    for (const auto& [width, height] :
         {std::pair(1, 1), {1, 9}, {9, 1}, {2, 2}, {7, 5}, {23, 31}}) {
      for (int k = 0; k < 8; ++k) expect_outlines(noise(width, height, count, seed++));
    }
  }
}

}  // namespace
}  // namespace diacut
