// The outlines that a sweep finds are those of trace_outlines().
#include "diacut/outlines.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <opencv2/imgproc.hpp>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "by_pixel.hpp"
#include "map_files.hpp"
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

/// A ring as OpenCV has it, with corners at multiples of `scale`.
std::vector<cv::Point> contour_of(std::span<const Corner> ring, int scale = 1) {
  std::vector<cv::Point> contour;
  for (const Corner& corner : ring) contour.emplace_back(scale * corner.x, scale * corner.y);
  return contour;
}

/// Negative for a hole.
double area_of(std::span<const Corner> ring) { return cv::contourArea(contour_of(ring), true); }

/// The rings of a region, filled by the even-odd rule. Corners lie at even places, and so do the
/// lines that OpenCV draws along them; the middles of pixels lie at odd ones.
cv::Mat1b filled(const Outlines& outlines, std::int64_t label) {
  std::vector<std::vector<cv::Point>> contours;
  for (const Ring& ring : outlines.of(label)) contours.push_back(contour_of(outlines.of(ring), 2));
  cv::Mat1b inside(2 * outlines.height + 1, 2 * outlines.width + 1, std::uint8_t{0});
  cv::fillPoly(inside, contours, 1);
  return inside;
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

/// Expects that no point of the lattice is met twice, that steps run along an axis and turn at each
/// corner.
void expect_simple(std::span<const Corner> ring) {
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const Corner& a = ring[i];
    const Corner& b = ring[(i + 1) % ring.size()];
    ASSERT_TRUE((a.x == b.x) != (a.y == b.y));
    EXPECT_EQ(a.y == b.y, i % 2 == 0) << "corner " << i << " is no turn";
  }
  std::set<std::pair<int, int>> met;
  for (const Corner& at : all_corners(ring)) {
    EXPECT_TRUE(met.emplace(at.x, at.y).second) << at.x << ", " << at.y << " is met twice";
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
      EXPECT_EQ(area_of(outlines.of(ring)) < 0, ring.hole);
      expect_simple(outlines.of(ring));
    }
    const cv::Mat1b inside = filled(outlines, label);
    for (int i = 0; i < labels.width * labels.height; ++i) {
      ASSERT_EQ(inside(2 * (i / labels.width) + 1, 2 * (i % labels.width) + 1) != 0,
                labels.values[static_cast<std::size_t>(i)] == label)
          << "region " << label << ", pixel " << i;
    }
  }
}

using Rings = std::vector<RingCorners>;

std::map<std::int32_t, Rings> swept(const Labels& labels) {
  std::map<std::int32_t, Rings> found;
  const AddRow add = sweep_outlines(labels.width, true, [&](std::int32_t label, Rings&& rings) {
    EXPECT_TRUE(found.emplace(label, rings).second) << label;
  });
  for (int y = 0; y < labels.height; ++y) add(labels.values.data() + y * labels.width);
  add(nullptr);
  return found;
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

/// Expects the rings of trace_outlines() with a corner at each turn and each junction.
void expect_traced(const Labels& labels, const std::string& what) {
  const Outlines outlines = trace_outlines(labels);
  const std::map<std::int32_t, Rings> found = swept(labels);
  ASSERT_EQ(found.size(), static_cast<std::size_t>(labels.count)) << what;
  for (std::int32_t label = 1; label <= labels.count; ++label) {
    Rings expected;
    for (const Ring& ring : outlines.of(label)) {
      const auto turns = outlines.of(ring);
      RingCorners& kept = expected.emplace_back();
      for (const Corner& corner : all_corners(turns)) {
        if (std::find(turns.begin(), turns.end(), corner) != turns.end() ||
            is_junction(labels, corner)) {
          kept.push_back(corner);
        }
      }
    }
    EXPECT_EQ(found.at(label), expected) << what << ", region " << label;
  }
}

TEST(Outlines, NoRegionsHaveNoRings) {
  const Outlines outlines = trace_outlines(Labels{4, 3, 0, std::vector<std::int32_t>(12, 0)});
  EXPECT_TRUE(outlines.rings.empty());
  EXPECT_THAT(outlines.first_ring, ElementsAre(0u, 0u));
  expect_outlines(Labels{1, 1, 1, {1}});
}

TEST(Outlines, OfRandomRegionsGiveThemBackAndAreFoundByASweep) {
  unsigned seed = 1;
  for (const int count : {1, 2, 3, 9}) {
    for (const auto& [width, height] :
         {std::pair(1, 1), {1, 9}, {9, 1}, {2, 2}, {7, 5}, {23, 31}}) {
      for (int k = 0; k < 9; ++k, ++seed) {
        const Labels labels{width, height, count,
                            random_classes(width, height, count + 1, 1 + k % 3, seed)};
        expect_outlines(labels);
        expect_traced(connected_parts(width, height, labels.values),
                      "seed " + std::to_string(seed));
      }
    }
  }
}

TEST(SweepOutlines, FindsRegionsInOneAnotherAndNone) {
  const auto ring = [](int x, int y) { return 1 + std::min({x, y, 10 - x, 10 - y}); };
  expect_traced(connected_parts(11, 11, by_pixel(11, 11, ring)), "rings");
  EXPECT_TRUE(swept(Labels{3, 2, 0, std::vector<std::int32_t>(6, 0)}).empty());
}

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

/// The sides of all rings, each once.
std::vector<std::array<double, 4>> sides_of(const Outlines& outlines) {
  std::set<std::array<double, 4>> sides;
  for (const Ring& ring : outlines.rings) {
    const auto corners = outlines.of(ring);
    for (std::size_t i = 0; i < corners.size(); ++i) {
      const Corner& next = corners[(i + 1) % corners.size()];
      const auto [a, b] =
          std::minmax({std::pair(corners[i].x, corners[i].y), std::pair(next.x, next.y)});
      sides.insert({double(a.first), double(a.second), double(b.first), double(b.second)});
    }
  }
  return {sides.begin(), sides.end()};
}

TEST(SimplifyOutlines, RegionsCoverThePictureOnceAndStayWithinTheDistance) {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    const Labels labels = ragged(seed, seed % 3 == 0);
    const Outlines exact = trace_outlines(labels);
    for (const double most : {0.0, 0.8, 1.5, 4.0, 20.0}) {
      const Outlines simple = simplify_outlines(exact, most);
      ASSERT_EQ(simple.rings.size(), exact.rings.size());
      double area = 0;
      double furthest = 0;
      for (std::size_t r = 0; r < exact.rings.size(); ++r) {
        EXPECT_EQ(simple.rings[r].region, exact.rings[r].region);
        const auto ring = simple.of(simple.rings[r]);
        EXPECT_EQ(simple.rings[r].hole, area_of(ring) < 0);
        area += area_of(ring);
        for (const cv::Point& corner : contour_of(exact.of(exact.rings[r]))) {
          const double distance = cv::pointPolygonTest(contour_of(ring), corner, true);
          furthest = std::max(furthest, std::abs(distance));
        }
      }
      EXPECT_LE(furthest, most + 1e-9);
      if (seed % 3 != 0) {
        EXPECT_EQ(area, 48 * 48) << "a gap or an overlap";
      }
      EXPECT_TRUE(meet_in_ends_alone(sides_of(simple))) << "seed " << seed << ", distance " << most;
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
