// The outlines that a sweep finds are those of trace_outlines().
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "by_pixel.hpp"
#include "diacut/outlines.hpp"
#include "matchers.hpp"
#include "output/outline_sweep.hpp"
#include "region/arcs/parts.hpp"

namespace diacut::testing {
namespace {

/// Random numbers in squares of `grain` pixels.
std::vector<std::int32_t> random_classes(int width, int height, int numbers, int grain,
                                         unsigned seed) {
  std::mt19937 random(seed);
  const auto drawn = by_pixel(width, height, [&](int, int) {
    return static_cast<std::int32_t>(random() % static_cast<unsigned>(numbers));
  });
  return by_pixel(width, height, [&](int x, int y) {
    return drawn[static_cast<std::size_t>(y / grain * width + x / grain)];
  });
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
      for (int k = 0; k < 8; ++k) {
        expect_outlines(
            {width, height, count, random_classes(width, height, count + 1, 1, seed++)});
      }
    }
  }
}

using Rings = std::vector<RingCorners>;

Labels random_regions(int width, int height, int numbers, int grain, unsigned seed) {
  return connected_parts(width, height, random_classes(width, height, numbers, grain, seed));
}

std::map<std::int32_t, Rings> swept(const Labels& labels, int step) {
  std::map<std::int32_t, Rings> found;
  const AddRow add =
      sweep_outlines(labels.width, {true, step}, [&](std::int32_t label, Rings&& rings) {
        EXPECT_TRUE(found.emplace(label, rings).second) << label;
      });
  for (int y = 0; y < labels.height; ++y) add(labels.values.data() + y * labels.width);
  add(nullptr);
  return found;
}

/// The corners at which a ring turns.
RingCorners turns(const RingCorners& ring) {
  RingCorners result;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const Corner& before = ring[(i + ring.size() - 1) % ring.size()];
    const Corner& after = ring[(i + 1) % ring.size()];
    if (before.x != after.x && before.y != after.y) result.push_back(ring[i]);
  }
  return result;
}

std::int32_t label_at(const Labels& labels, int x, int y) {
  if (x < 0 || y < 0 || x >= labels.width || y >= labels.height) return 0;
  return labels.values[static_cast<std::size_t>(y * labels.width + x)];
}

/// Whether three boundaries or four leave a corner.
bool is_junction(const Labels& labels, const Corner& corner) {
  const std::int32_t around[] = {
      label_at(labels, corner.x - 1, corner.y - 1), label_at(labels, corner.x, corner.y - 1),
      label_at(labels, corner.x, corner.y), label_at(labels, corner.x - 1, corner.y)};
  int boundaries = 0;
  for (int k = 0; k < 4; ++k) boundaries += int{around[k] != around[(k + 1) % 4]};
  return boundaries > 2;
}

/// Every corner that a ring goes through.
RingCorners all_corners(std::span<const Corner> ring) {
  RingCorners result;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const Corner& to = ring[(i + 1) % ring.size()];
    const auto sign = [](int value) { return int{value > 0} - int{value < 0}; };
    for (Corner at = ring[i]; at != to; at = {at.x + sign(to.x - at.x), at.y + sign(to.y - at.y)}) {
      result.push_back(at);
    }
  }
  return result;
}

void expect_traced(const Labels& labels, const std::string& what) {
  const Outlines outlines = trace_outlines(labels);
  const std::map<std::int32_t, Rings> plain = swept(labels, 0);
  const std::map<std::int32_t, Rings> stepped = swept(labels, 3);
  ASSERT_EQ(plain.size(), static_cast<std::size_t>(labels.count)) << what;
  for (std::int32_t label = 1; label <= labels.count; ++label) {
    const auto traced = outlines.of(label);
    ASSERT_EQ(plain.at(label).size(), traced.size()) << what << ", region " << label;
    for (std::size_t k = 0; k < traced.size(); ++k) {
      const auto corners = outlines.of(traced[k]);
      EXPECT_EQ(turns(plain.at(label)[k]), RingCorners(corners.begin(), corners.end()))
          << what << ", ring " << k << " of region " << label;
      RingCorners junctions;
      RingCorners steps;
      const RingCorners turning = turns(plain.at(label)[k]);
      const RingCorners all = all_corners(corners);
      for (std::size_t i = 0; i < all.size(); ++i) {
        const bool turned = std::find(turning.begin(), turning.end(), all[i]) != turning.end();
        const bool upright = all[i].x == all[(i + 1) % all.size()].x;
        const bool shared = turned || is_junction(labels, all[i]);
        if (shared) junctions.push_back(all[i]);
        if (shared || (upright ? all[i].y : all[i].x) % 3 == 0) steps.push_back(all[i]);
      }
      EXPECT_EQ(plain.at(label)[k], junctions) << what << ", ring " << k << " of " << label;
      EXPECT_EQ(stepped.at(label)[k], steps) << what << ", ring " << k << " of " << label;
    }
  }
}

TEST(SweepOutlines, FindsTheOutlinesOfRandomRegions) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    const std::string what = "seed " + std::to_string(seed);
    expect_traced(random_regions(17, 13, 2, 1, seed), "two, " + what);
    expect_traced(random_regions(23, 19, 3, 1, seed), "three, " + what);
    expect_traced(random_regions(31, 27, 4, 3, seed), "squares, " + what);
  }
}

TEST(SweepOutlines, FindsRegionsInOneAnotherAndThinOnes) {
  const auto ring = [](int x, int y) { return 1 + std::min({x, y, 10 - x, 10 - y}); };
  expect_traced(connected_parts(11, 11, by_pixel(11, 11, ring)), "rings");
  expect_traced(random_regions(1, 40, 3, 1, 1), "a column");
  expect_traced(random_regions(40, 1, 3, 1, 1), "a row");
  expect_traced(Labels{1, 1, 1, {1}}, "a pixel");
  expect_traced(Labels{6, 5, 1, std::vector<std::int32_t>(30, 1)}, "one region");
  EXPECT_TRUE(swept(Labels{3, 2, 0, std::vector<std::int32_t>(6, 0)}, 0).empty());
}

using Side = std::pair<std::pair<int, int>, std::pair<int, int>>;

/// Regions around random places, with ragged boundaries, islands, pieces and, if `gaps`, holes of
/// label 0.
Labels ragged(unsigned seed, bool gaps) {
  constexpr int kSize = 48;
  constexpr int kPlaces = 12;
  std::mt19937 random(seed);
  std::vector<std::pair<double, double>> places;
  for (int k = 0; k < kPlaces; ++k) places.emplace_back(random() % kSize, random() % kSize);
  const auto nearest = [&](int x, int y) {
    const double off_x = x + static_cast<double>(random() % 100) / 30;
    const double off_y = y + static_cast<double>(random() % 100) / 30;
    const auto place =
        std::min_element(places.begin(), places.end(), [&](const auto& a, const auto& b) {
          return std::hypot(a.first - off_x, a.second - off_y) <
                 std::hypot(b.first - off_x, b.second - off_y);
        });
    const auto label = static_cast<std::int32_t>(place - places.begin()) + 1;
    return gaps && label == 1 ? 0 : label;
  };
  return {kSize, kSize, kPlaces, by_pixel(kSize, kSize, nearest)};
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
        EXPECT_EQ(simple.rings[r].hole, twice_area(simple.of(simple.rings[r])) < 0);
        area += twice_area(simple.of(simple.rings[r]));
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
  const Labels labels{20, 20, 2, by_pixel(20, 20, [](int x, int y) { return x <= y ? 1 : 2; })};
  const Outlines exact = trace_outlines(labels);
  EXPECT_GT(exact.of(exact.rings[0]).size(), 38u);
  // The picture's corners, and where the boundary meets its sides.
  const Outlines simple = simplify_outlines(exact, 1);
  EXPECT_LE(simple.of(simple.rings[0]).size(), 5u);
  EXPECT_LE(simple.of(simple.rings[1]).size(), 5u);
  EXPECT_EQ(simple.of(1).size(), 1u);
}

}  // namespace
}  // namespace diacut::testing
