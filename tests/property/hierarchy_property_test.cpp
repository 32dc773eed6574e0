// Hierarchies of random maps: what holds of each of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <random>
#include <set>
#include <vector>

#include "diacut/hierarchy.hpp"
#include "label_checks.hpp"
#include "region/hierarchy.hpp"
#include "region/merge_tree.hpp"
#include "region/parts.hpp"
#include "region/watershed.hpp"

namespace diacut {
namespace {

int random_int(std::mt19937& random, int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(random);
}

struct Maps {
  int width = 0;
  int height = 0;
  std::vector<float> strength;
  std::vector<float> orientation;
  std::vector<std::uint8_t> valid;
};

/// Noise, coarse steps (plateaus, equal means) or both; sometimes with holes.
Maps random_maps(std::mt19937& random) {
  Maps maps;
  maps.width = random_int(random, 1, 23);
  maps.height = random_int(random, 1, 23);
  const int steps = random_int(random, 1, 3) == 1 ? random_int(random, 1, 6) : 0;
  std::uniform_real_distribution<float> value(0, 1);
  const bool holes = random_int(random, 0, 2) == 0;
  for (int i = 0; i < maps.width * maps.height; ++i) {
    float s = value(random);
    if (steps > 0) s = std::round(s * static_cast<float>(steps)) / static_cast<float>(steps);
    maps.strength.push_back(s);
    maps.orientation.push_back(value(random) * std::numbers::pi_v<float>);
    if (holes) maps.valid.push_back(random_int(random, 0, 4) == 0 ? 0 : 1);
  }
  return maps;
}

Hierarchy grow(const Maps& maps) {
  return hierarchy(maps.strength, maps.orientation, maps.valid, maps.width, maps.height, {});
}

/// Thresholds at, just below and just above some heights.
std::vector<double> thresholds(const Hierarchy& tree) {
  std::vector<double> found = {-1, 0, 1};
  const std::size_t step = 1 + tree.merges.size() / 6;
  for (std::size_t k = 0; k < tree.merges.size(); k += step) {
    const float height = tree.merges[k].height;
    found.insert(found.end(),
                 {std::nextafter(height, -1.0F), height, std::nextafter(height, 2.0F)});
  }
  std::sort(found.begin(), found.end());
  return found;
}

void expect_nested(const Labels& fine, const Labels& coarse) {
  std::map<std::int32_t, std::int32_t> holder;
  for (std::size_t i = 0; i < fine.values.size(); ++i) {
    const auto [entry, is_new] = holder.emplace(fine.values[i], coarse.values[i]);
    ASSERT_EQ(entry->second, coarse.values[i]) << "pixel " << i;
  }
}

/// The 8-connected components of map <= t, by filling, numbered in scan order of the pixels; where
/// there is data.
std::vector<std::int32_t> components(const std::vector<float>& map, const Labels& leaves,
                                     double threshold) {
  const int width = 2 * leaves.width + 1;
  const int height = 2 * leaves.height + 1;
  std::vector<std::int32_t> component(map.size(), 0);
  std::vector<std::int32_t> result;
  std::int32_t count = 0;
  for (int y = 0; y < leaves.height; ++y) {
    for (int x = 0; x < leaves.width; ++x) {
      const std::size_t pixel = static_cast<std::size_t>((2 * y + 1) * width + 2 * x + 1);
      if (leaves.values[static_cast<std::size_t>(y * leaves.width + x)] == 0) {
        result.push_back(0);
        continue;
      }
      if (component[pixel] == 0) {
        component[pixel] = ++count;
        std::vector<int> open = {static_cast<int>(pixel)};
        while (!open.empty()) {
          const int at = open.back();
          open.pop_back();
          for (int v = std::max(0, at / width - 1); v <= std::min(height - 1, at / width + 1);
               ++v) {
            for (int u = std::max(0, at % width - 1); u <= std::min(width - 1, at % width + 1);
                 ++u) {
              const auto next = static_cast<std::size_t>(v * width + u);
              if (component[next] != 0 || !(map[next] <= threshold)) continue;
              component[next] = count;
              open.push_back(static_cast<int>(next));
            }
          }
        }
      }
      result.push_back(component[pixel]);
    }
  }
  return result;
}

TEST(HierarchyProperties, HoldForAnyMap) {
  std::mt19937 random(20250611);
  std::size_t merges = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const Maps maps = random_maps(random);
    SCOPED_TRACE(::testing::Message()
                 << "trial " << trial << ", " << maps.width << "x" << maps.height);
    const Hierarchy tree = grow(maps);
    check(tree);
    merges += tree.merges.size();
    testing::expect_labels_contract(tree.leaves, maps.width, maps.height, maps.valid);

    std::vector<std::int32_t> data(tree.leaves.values.size());
    std::transform(tree.leaves.values.begin(), tree.leaves.values.end(), data.begin(),
                   [](std::int32_t leaf) { return leaf != 0 ? 1 : 0; });
    const Parts pieces = connected_parts(maps.width, maps.height, data);
    EXPECT_EQ(cut(tree, -1).values, tree.leaves.values);
    EXPECT_EQ(cut(tree, 1).values, pieces.of_pixel);

    const std::vector<float> map = ultrametric_map(tree);
    Labels finer = tree.leaves;
    for (const double threshold : thresholds(tree)) {
      const Labels labels = cut(tree, threshold);
      testing::expect_labels_contract(labels, maps.width, maps.height, maps.valid);
      expect_nested(finer, labels);
      if (threshold >= 0) {
        EXPECT_EQ(components(map, tree.leaves, threshold), labels.values);
      }
      finer = labels;
    }
    finer = cut(tree, 1);
    for (std::int64_t count = pieces.count; count <= tree.leaves.count; ++count) {
      std::vector<std::string> notes;
      const Labels labels = cut_to_count(tree, std::max<std::int64_t>(count, 1), notes);
      EXPECT_EQ(labels.count, count);
      expect_nested(labels, finer);
      finer = labels;
    }

    const Hierarchy again = grow(maps);
    EXPECT_EQ(again.leaves.values, tree.leaves.values);
    ASSERT_EQ(again.merges.size(), tree.merges.size());
    for (std::size_t k = 0; k < tree.merges.size(); ++k) {
      EXPECT_EQ(again.merges[k].first, tree.merges[k].first);
      EXPECT_EQ(again.merges[k].height, tree.merges[k].height);
    }
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(merges, 1000u);  // The maps are no flat ones.
}

TEST(WatershedProperties, ABasinForEachRegionalMinimumAndNoOther) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 300; ++trial) {
    const Maps maps = random_maps(random);
    const Parts basins = watershed(maps.strength, maps.valid, maps.width, maps.height);
    // Plateaus as numbers, then those that have no lower neighbour.
    std::vector<std::int32_t> classes(maps.strength.size(), 0);
    for (std::size_t i = 0; i < classes.size(); ++i) {
      if (!maps.valid.empty() && maps.valid[i] == 0) continue;
      classes[i] = 1 + static_cast<std::int32_t>(std::lround(maps.strength[i] * 65535.0F));
    }
    const Parts plateaus = connected_parts(maps.width, maps.height, classes);
    std::vector<char> drains(static_cast<std::size_t>(plateaus.count) + 1, 0);
    const auto compare = [&](std::size_t i, std::size_t j) {
      if (classes[i] == 0 || classes[j] == 0) return;
      if (classes[i] < classes[j]) drains[plateaus.of_pixel[j]] = 1;
      if (classes[j] < classes[i]) drains[plateaus.of_pixel[i]] = 1;
    };
    const auto width = static_cast<std::size_t>(maps.width);
    for (std::size_t i = 0; i < classes.size(); ++i) {
      if ((i + 1) % width != 0) compare(i, i + 1);
      if (i + width < classes.size()) compare(i, i + width);
    }
    std::map<std::int32_t, std::set<std::int32_t>> minima;
    for (std::size_t i = 0; i < classes.size(); ++i) {
      ASSERT_EQ(basins.of_pixel[i] == 0, classes[i] == 0);
      if (classes[i] != 0 && drains[plateaus.of_pixel[i]] == 0) {
        minima[basins.of_pixel[i]].insert(plateaus.of_pixel[i]);
      }
    }
    ASSERT_EQ(minima.size(), static_cast<std::size_t>(basins.count)) << "trial " << trial;
    for (const auto& [basin, plateau] : minima) EXPECT_EQ(plateau.size(), 1u) << "trial " << trial;
  }
}

/// Greedy merging as it is told, every mean anew at each step.
std::vector<Merge> reference_merge(std::int32_t count, std::vector<Arc> arcs) {
  std::vector<Merge> merges;
  std::int32_t next = count + 1;
  const auto mean = [](const Arc& arc) { return arc.strength / static_cast<double>(arc.length); };
  while (!arcs.empty()) {
    const Arc weakest = *std::min_element(
        arcs.begin(), arcs.end(), [&](const Arc& a, const Arc& b) { return mean(a) < mean(b); });
    const auto [low, high] = std::minmax(weakest.first, weakest.second);
    merges.push_back({low, high, static_cast<float>(mean(weakest))});
    std::map<std::pair<std::int32_t, std::int32_t>, Arc> united;
    for (Arc arc : arcs) {
      for (std::int32_t* end : {&arc.first, &arc.second}) {
        if (*end == low || *end == high) *end = next;
      }
      if (arc.first == arc.second) continue;
      if (arc.first > arc.second) std::swap(arc.first, arc.second);
      Arc& sum = united[{arc.first, arc.second}];
      sum = {arc.first, arc.second, sum.strength + arc.strength, sum.length + arc.length};
    }
    arcs.clear();
    for (const auto& [key, arc] : united) arcs.push_back(arc);
    ++next;
  }
  return merges;
}

TEST(MergeTreeProperties, TheSameAsByTheDefinition) {
  std::mt19937 random(11);
  for (int trial = 0; trial < 200; ++trial) {
    const int count = random_int(random, 1, 30);
    const double density = std::uniform_real_distribution<double>(0.05, 0.6)(random);
    std::vector<Arc> arcs;
    for (std::int32_t a = 1; a <= count; ++a) {
      for (std::int32_t b = a + 1; b <= count; ++b) {
        if (std::uniform_real_distribution<double>(0, 1)(random) > density) continue;
        const int length = random_int(random, 1, 9);
        arcs.push_back(
            {a, b, length * std::uniform_real_distribution<double>(0, 1)(random), length});
      }
    }
    const std::vector<Merge> merges = merge_greedily(count, arcs);
    const std::vector<Merge> reference = reference_merge(count, arcs);
    ASSERT_EQ(merges.size(), reference.size()) << "trial " << trial;
    for (std::size_t k = 0; k < merges.size(); ++k) {
      ASSERT_EQ(merges[k].first, reference[k].first) << "trial " << trial << ", merge " << k;
      ASSERT_EQ(merges[k].second, reference[k].second) << "trial " << trial << ", merge " << k;
      // Sums of at most 435 numbers in [0, 9], each added up in another order.
      ASSERT_NEAR(merges[k].height, reference[k].height, 1e-6F);
    }
  }
}

}  // namespace
}  // namespace diacut
