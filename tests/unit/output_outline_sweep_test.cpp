// The outlines that a sweep finds are those of trace_outlines().
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "output/outline_sweep.hpp"
#include "region/parts.hpp"

namespace diacut {
namespace {

using Rings = std::vector<RingCorners>;

/// 4-connected regions in scan order from random numbers, of which 0 has no data. `grain`: the side
/// of squares of one number.
Labels random_regions(int width, int height, int numbers, int grain, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::int32_t> classes(static_cast<std::size_t>(width * height));
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const auto at = static_cast<std::size_t>(y * width + x);
      const bool is_first = y % grain == 0 && x % grain == 0;
      classes[at] =
          is_first
              ? static_cast<std::int32_t>(random() % static_cast<unsigned>(numbers))
              : classes[static_cast<std::size_t>(y / grain * grain * width + x / grain * grain)];
    }
  }
  Parts parts = connected_parts(width, height, classes);
  return {width, height, parts.count, std::move(parts.of_pixel)};
}

std::map<std::int32_t, Rings> swept(const Labels& labels, int step) {
  std::map<std::int32_t, Rings> found;
  OutlineSweep sweep(labels.width, {true, step}, [&](std::int32_t label, const Rings& rings) {
    EXPECT_TRUE(found.emplace(label, rings).second) << label;
  });
  for (int y = 0; y < labels.height; ++y) sweep.add(labels.values.data() + y * labels.width);
  sweep.finish();
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

TEST(OutlineSweep, FindsTheOutlinesOfRandomRegions) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    const std::string what = "seed " + std::to_string(seed);
    expect_traced(random_regions(17, 13, 2, 1, seed), "two, " + what);
    expect_traced(random_regions(23, 19, 3, 1, seed), "three, " + what);
    expect_traced(random_regions(31, 27, 4, 3, seed), "squares, " + what);
  }
}

TEST(OutlineSweep, FindsRegionsInOneAnotherAndThinOnes) {
  const auto rings_around = [](int side) {
    std::vector<std::int32_t> classes;
    for (int y = 0; y < side; ++y) {
      for (int x = 0; x < side; ++x) {
        classes.push_back(1 + std::min({x, y, side - 1 - x, side - 1 - y}));
      }
    }
    Parts parts = connected_parts(side, side, classes);
    return Labels{side, side, parts.count, std::move(parts.of_pixel)};
  };
  expect_traced(rings_around(11), "rings");
  expect_traced(random_regions(1, 40, 3, 1, 1), "a column");
  expect_traced(random_regions(40, 1, 3, 1, 1), "a row");
  expect_traced(Labels{1, 1, 1, {1}}, "a pixel");
  expect_traced(Labels{6, 5, 1, std::vector<std::int32_t>(30, 1)}, "one region");
  EXPECT_TRUE(swept(Labels{3, 2, 0, std::vector<std::int32_t>(6, 0)}, 0).empty());
}

}  // namespace
}  // namespace diacut
