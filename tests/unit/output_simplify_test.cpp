#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "diacut/outlines.hpp"

namespace diacut {
namespace {

using Side = std::pair<std::pair<int, int>, std::pair<int, int>>;

/// Regions around random places, with ragged boundaries, islands, pieces and, if `gaps`, holes of
/// label 0.
Labels ragged(unsigned seed, bool gaps) {
  constexpr int kSize = 48;
  constexpr int kPlaces = 12;
  std::mt19937 random(seed);
  std::vector<std::pair<double, double>> places;
  for (int k = 0; k < kPlaces; ++k) places.emplace_back(random() % kSize, random() % kSize);
  Labels labels{kSize, kSize, kPlaces, {}};
  for (int y = 0; y < kSize; ++y) {
    for (int x = 0; x < kSize; ++x) {
      const double off_x = x + static_cast<double>(random() % 100) / 30;
      const double off_y = y + static_cast<double>(random() % 100) / 30;
      const auto nearest =
          std::min_element(places.begin(), places.end(), [&](const auto& a, const auto& b) {
            return std::hypot(a.first - off_x, a.second - off_y) <
                   std::hypot(b.first - off_x, b.second - off_y);
          });
      const auto label = static_cast<std::int32_t>(nearest - places.begin()) + 1;
      labels.values.push_back(gaps && label == 1 ? 0 : label);
    }
  }
  return labels;
}

std::int64_t turn(std::pair<int, int> a, std::pair<int, int> b, std::pair<int, int> c) {
  return std::int64_t{b.first - a.first} * (c.second - a.second) -
         std::int64_t{b.second - a.second} * (c.first - a.first);
}

bool lies_between(std::pair<int, int> point, const Side& side) {
  return turn(side.first, side.second, point) == 0 &&
         std::min(side.first.first, side.second.first) <= point.first &&
         point.first <= std::max(side.first.first, side.second.first) &&
         std::min(side.first.second, side.second.second) <= point.second &&
         point.second <= std::max(side.first.second, side.second.second);
}

/// Whether two sides meet anywhere but in an end of both.
bool collide(const Side& a, const Side& b) {
  for (const auto& [point, other] : {std::pair(a.first, b), std::pair(a.second, b),
                                     std::pair(b.first, a), std::pair(b.second, a)}) {
    if (point != other.first && point != other.second && lies_between(point, other)) return true;
  }
  const auto sign = [](std::int64_t value) { return (value > 0) - (value < 0); };
  return sign(turn(a.first, a.second, b.first)) * sign(turn(a.first, a.second, b.second)) < 0 &&
         sign(turn(b.first, b.second, a.first)) * sign(turn(b.first, b.second, a.second)) < 0;
}

std::int64_t twice_area(const Outlines& outlines, const Ring& ring) {
  const auto corners = outlines.of(ring);
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const Corner& next = corners[(i + 1) % corners.size()];
    sum += std::int64_t{corners[i].x} * next.y - std::int64_t{corners[i].y} * next.x;
  }
  return sum;
}

std::vector<Side> sides_of(const Outlines& outlines) {
  std::set<Side> sides;
  for (const Ring& ring : outlines.rings) {
    const auto corners = outlines.of(ring);
    for (std::size_t i = 0; i < corners.size(); ++i) {
      const Corner& next = corners[(i + 1) % corners.size()];
      const std::pair a(corners[i].x, corners[i].y);
      const std::pair b(next.x, next.y);
      sides.emplace(std::min(a, b), std::max(a, b));
    }
  }
  return {sides.begin(), sides.end()};
}

double distance(const Corner& point, const Outlines& outlines, const Ring& ring) {
  const auto corners = outlines.of(ring);
  double least = 1e9;
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const Corner& a = corners[i];
    const Corner& b = corners[(i + 1) % corners.size()];
    const double x = b.x - a.x;
    const double y = b.y - a.y;
    const double at =
        std::clamp(((point.x - a.x) * x + (point.y - a.y) * y) / (x * x + y * y), 0.0, 1.0);
    least = std::min(least, std::hypot(point.x - a.x - at * x, point.y - a.y - at * y));
  }
  return least;
}

TEST(SimplifyOutlines, RegionsCoverThePictureOnceAndStayWithinTheDistance) {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    const Labels labels = ragged(seed, seed % 3 == 0);
    const Outlines exact = trace_outlines(labels);
    for (const double most : {0.0, 0.8, 1.5, 4.0, 20.0}) {
      const Outlines simple = simplify_outlines(exact, most);
      ASSERT_EQ(simple.rings.size(), exact.rings.size());
      std::int64_t area = 0;
      double furthest = 0;
      for (std::size_t r = 0; r < exact.rings.size(); ++r) {
        EXPECT_EQ(simple.rings[r].region, exact.rings[r].region);
        EXPECT_EQ(simple.rings[r].hole, twice_area(simple, simple.rings[r]) < 0);
        area += twice_area(simple, simple.rings[r]);
        for (const Corner& corner : exact.of(exact.rings[r])) {
          furthest = std::max(furthest, distance(corner, simple, simple.rings[r]));
        }
      }
      EXPECT_LE(furthest, most + 1e-9);
      if (seed % 3 != 0) {
        EXPECT_EQ(area, 2 * 48 * 48) << "a gap or an overlap";
      }
      const std::vector<Side> sides = sides_of(simple);
      for (std::size_t i = 0; i < sides.size(); ++i) {
        for (std::size_t j = i + 1; j < sides.size(); ++j) {
          ASSERT_FALSE(collide(sides[i], sides[j])) << "seed " << seed << ", distance " << most;
        }
      }
    }
  }
}

TEST(SimplifyOutlines, AStaircaseBecomesOneSide) {
  Labels labels{20, 20, 2, {}};
  for (int y = 0; y < 20; ++y) {
    for (int x = 0; x < 20; ++x) labels.values.push_back(x <= y ? 1 : 2);
  }
  const Outlines exact = trace_outlines(labels);
  EXPECT_GT(exact.of(exact.rings[0]).size(), 38u);
  // The picture's corners, and where the boundary meets its sides.
  const Outlines simple = simplify_outlines(exact, 1);
  EXPECT_LE(simple.of(simple.rings[0]).size(), 5u);
  EXPECT_LE(simple.of(simple.rings[1]).size(), 5u);
  EXPECT_EQ(simple.of(1).size(), 1u);
}

}  // namespace
}  // namespace diacut
