// Hierarchies of random maps: what holds of each of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <opencv2/imgproc.hpp>
#include <random>
#include <tuple>
#include <vector>

#include "boundary_maps.hpp"
#include "diacut/hierarchy.hpp"
#include "label_checks.hpp"
#include "region/arcs/arcs.hpp"
#include "region/arcs/parts.hpp"
#include "region/tree/hierarchy.hpp"
#include "region/tree/merge_tree.hpp"
#include "region/watershed/watershed.hpp"

namespace diacut {
namespace {

/// Noise, coarse steps (plateaus, equal means) or both; sometimes with holes.
BoundaryMaps any_maps(std::mt19937& random, int width, int height) {
  const int steps = random_int(random, 1, 3) == 1 ? random_int(random, 1, 6) : 0;
  return random_maps(random, width, height, steps, random_int(random, 0, 2) == 0 ? 0.2 : 0);
}

BoundaryMaps any_maps(std::mt19937& random) {
  const int width = random_int(random, 1, 23);
  return any_maps(random, width, random_int(random, 1, 23));
}

Hierarchy grow(const BoundaryMaps& maps) {
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

/// The 8-connected components of map <= t, numbered in scan order of the pixels; where there is
/// data.
std::vector<std::int32_t> components(const std::vector<float>& map, const Labels& leaves,
                                     double threshold) {
  cv::Mat strength;  // As exact as the threshold.
  cv::Mat(map, true).reshape(1, 2 * leaves.height + 1).convertTo(strength, CV_64F);
  cv::Mat found;
  cv::connectedComponents(strength <= threshold, found, 8);
  std::map<int, std::int32_t> number_of;
  std::vector<std::int32_t> result;
  for (std::size_t i = 0; i < leaves.values.size(); ++i) {
    const int y = static_cast<int>(i) / leaves.width;
    const int x = static_cast<int>(i) % leaves.width;
    const auto next = static_cast<std::int32_t>(number_of.size()) + 1;
    result.push_back(
        leaves.values[i] == 0
            ? 0
            : number_of.emplace(found.at<int>(2 * y + 1, 2 * x + 1), next).first->second);
  }
  return result;
}

Labels cut_into(const Hierarchy& tree, std::int64_t regions, double compactness) {
  RegionParameters wanted;
  wanted.regions = static_cast<int>(std::max<std::int64_t>(regions, 1));
  wanted.compactness = compactness;
  wanted.min_size = *parse_least_size("0");
  std::vector<std::string> notes;
  return cut(tree, wanted, notes);
}

TEST(HierarchyProperties, HoldForAnyMap) {
  std::mt19937 random(20250611);
  std::size_t merges = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const BoundaryMaps maps = any_maps(random);
    SCOPED_TRACE(::testing::Message()
                 << "trial " << trial << ", " << maps.width << "x" << maps.height);
    const Hierarchy tree = grow(maps);
    check(tree);
    merges += tree.merges.size();
    testing::expect_labels_contract(tree.leaves, maps.width, maps.height, maps.valid);

    std::vector<std::int32_t> data(tree.leaves.values.size());
    std::transform(tree.leaves.values.begin(), tree.leaves.values.end(), data.begin(),
                   [](std::int32_t leaf) { return leaf != 0 ? 1 : 0; });
    const Labels pieces = connected_parts(maps.width, maps.height, data);
    EXPECT_EQ(cut(tree, -1).values, tree.leaves.values);
    EXPECT_EQ(cut(tree, 1).values, pieces.values);

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
    for (const double compactness : {0.0, 0.3, 1.0}) {
      finer = cut(tree, 1);
      for (std::int64_t count = pieces.count; count <= tree.leaves.count; ++count) {
        const Labels labels = cut_into(tree, count, compactness);
        EXPECT_EQ(labels.count, count);
        expect_nested(labels, finer);
        finer = labels;
        if (compactness > 0) continue;
        Hierarchy last_undone = tree;
        last_undone.merges.resize(static_cast<std::size_t>(tree.leaves.count - count));
        EXPECT_EQ(labels.values, cut(last_undone, 1).values);
      }
    }

    testing::expect_same(grow(maps), tree);
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(merges, 1000u);  // The maps are no flat ones.
}

/// Basins by the definition: distances within plateaus by relaxing until nothing changes, then each
/// pixel's way down.
std::vector<std::int32_t> reference_basins(const BoundaryMaps& maps) {
  constexpr int kFar = std::numeric_limits<int>::max();
  const int width = maps.width;
  const std::size_t count = maps.strength.size();
  const auto has_data = [&](std::size_t i) { return maps.valid.empty() || maps.valid[i] != 0; };
  std::vector<std::vector<std::size_t>> around(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (!has_data(i)) continue;
    const int x = static_cast<int>(i) % width;
    const std::pair<bool, int> steps[] = {
        {true, -width}, {x > 0, -1}, {x + 1 < width, 1}, {true, width}};
    for (const auto& [inside, step] : steps) {
      const std::ptrdiff_t j = static_cast<std::ptrdiff_t>(i) + step;
      if (!inside || j < 0 || j >= static_cast<std::ptrdiff_t>(count)) continue;
      if (has_data(static_cast<std::size_t>(j))) around[i].push_back(static_cast<std::size_t>(j));
    }
  }
  std::vector<long> level(count);
  std::vector<int> distance(count, kFar);
  for (std::size_t i = 0; i < count; ++i) level[i] = std::lround(maps.strength[i] * 65535.0F);
  for (std::size_t i = 0; i < count; ++i) {
    for (const std::size_t j : around[i]) {
      if (level[j] < level[i]) distance[i] = 0;
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < count; ++i) {
      for (const std::size_t j : around[i]) {
        if (level[j] != level[i] || distance[j] == kFar || distance[j] + 1 >= distance[i]) continue;
        distance[i] = distance[j] + 1;
        changed = true;
      }
    }
  }
  std::vector<std::int32_t> lowest(count, 0);  // Plateaus that are minima.
  for (std::size_t i = 0; i < count; ++i) {
    if (has_data(i) && distance[i] == kFar) lowest[i] = static_cast<std::int32_t>(1 + level[i]);
  }
  std::vector<std::int32_t> basin = connected_parts(width, maps.height, lowest).values;
  std::vector<int> rank = distance;
  std::replace(rank.begin(), rank.end(), kFar, 0);
  const auto key = [&](std::size_t i) { return std::tuple(level[i], rank[i], i); };
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < count; ++i) order.push_back(i);
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return key(a) < key(b); });
  for (const std::size_t i : order) {
    if (!has_data(i) || basin[i] != 0) continue;
    basin[i] = basin[*std::min_element(around[i].begin(), around[i].end(),
                                       [&](auto a, auto b) { return key(a) < key(b); })];
  }
  std::map<std::int32_t, std::int32_t> number = {{0, 0}};
  for (std::int32_t& each : basin) {
    each = number.emplace(each, static_cast<std::int32_t>(number.size())).first->second;
  }
  return basin;
}

TEST(WatershedProperties, TheSameAsByTheDefinition) {
  std::mt19937 random(19);
  for (int trial = 0; trial < 600; ++trial) {
    const BoundaryMaps maps = any_maps(random);
    ASSERT_EQ(watershed(maps.strength, maps.valid, maps.width, maps.height).values,
              reference_basins(maps))
        << "trial " << trial << ", " << maps.width << "x" << maps.height;
  }
}

/// Pictures that are flooded in several bands of rows.
TEST(WatershedProperties, TheSameAsByTheDefinitionInBands) {
  std::mt19937 random(20);
  std::vector<BoundaryMaps> all;
  for (int trial = 0; trial < 12; ++trial) all.push_back(any_maps(random, 47, 800));
  // A plateau that winds through all bands, down from one corner or a minimum by itself.
  for (const bool drains : {false, true}) {
    BoundaryMaps maps{23, 1500};
    for (int i = 0; i < maps.width * maps.height; ++i) {
      const int x = i % maps.width;
      const bool ridge = x % 2 == 1 && i / maps.width != (x % 4 == 1 ? maps.height - 1 : 0);
      maps.strength.push_back(ridge ? 1.0F : 0.5F);
    }
    if (drains) maps.strength.back() = 0.25F;
    all.push_back(maps);
  }
  for (const BoundaryMaps& maps : all) {
    ASSERT_EQ(watershed(maps.strength, maps.valid, maps.width, maps.height).values,
              reference_basins(maps));
  }
}

/// A boundary as the reference merges it.
struct ReferenceArc {
  Arc sum;
  std::size_t earliest = 0;

  bool before(const ReferenceArc& other) const {
    __extension__ using Wide = __int128;
    const Wide mine = Wide{sum.strength} * other.sum.length;
    const Wide theirs = Wide{other.sum.strength} * sum.length;
    return mine != theirs ? mine < theirs : earliest < other.earliest;
  }
};

/// Greedy merging as it is told, the weakest of all at each step.
std::vector<Merge> reference_merge(std::int32_t count, const std::vector<Arc>& given) {
  std::vector<ReferenceArc> arcs;
  for (const Arc& arc : given) arcs.push_back({arc, arcs.size()});
  std::vector<Merge> merges;
  std::int32_t next = count + 1;
  while (!arcs.empty()) {
    const Arc weakest =
        std::min_element(arcs.begin(), arcs.end(), [](const auto& a, const auto& b) {
          return a.before(b);
        })->sum;
    const std::int32_t low = std::min(weakest.first, weakest.second);
    const std::int32_t high = std::max(weakest.first, weakest.second);
    const double mean = static_cast<double>(weakest.strength) / static_cast<double>(weakest.length);
    merges.push_back({low, high, static_cast<float>(mean / kUnitStrength)});
    std::map<std::int32_t, ReferenceArc> united;  // Those of the new node, by the other one.
    std::vector<ReferenceArc> others;
    for (const ReferenceArc& arc : arcs) {
      const auto is_old = [&](std::int32_t node) { return node == low || node == high; };
      if (!is_old(arc.sum.first) && !is_old(arc.sum.second)) {
        others.push_back(arc);
        continue;
      }
      if (is_old(arc.sum.first) && is_old(arc.sum.second)) continue;
      const std::int32_t other = is_old(arc.sum.first) ? arc.sum.second : arc.sum.first;
      const auto [entry, is_new] =
          united.try_emplace(other, ReferenceArc{{other, next, 0, 0}, arc.earliest});
      entry->second.sum.strength += arc.sum.strength;
      entry->second.sum.length += arc.sum.length;
      entry->second.earliest = std::min(entry->second.earliest, arc.earliest);
    }
    arcs = std::move(others);
    for (const auto& [other, arc] : united) arcs.push_back(arc);
    ++next;
  }
  return merges;
}

/// A strength from 0 to `length`; of few different means where `steps` is not 0.
std::int64_t random_strength(std::mt19937& random, int length, int steps) {
  if (steps > 0) return length * fixed_point(1.0 * random_int(random, 0, steps) / steps);
  return length * fixed_point(std::uniform_real_distribution<double>(0, 1)(random));
}

TEST(MergeTreeProperties, TheSameAsByTheDefinition) {
  std::mt19937 random(11);
  for (int trial = 0; trial < 200; ++trial) {
    SCOPED_TRACE(trial);
    const int count = random_int(random, 1, 30);
    const int steps = random_int(random, 0, 3);
    const double density = std::uniform_real_distribution<double>(0.05, 0.6)(random);
    std::vector<Arc> arcs;
    for (std::int32_t a = 1; a <= count; ++a) {
      for (std::int32_t b = a + 1; b <= count; ++b) {
        if (std::uniform_real_distribution<double>(0, 1)(random) > density) continue;
        const int length = random_int(random, 1, 9);
        arcs.push_back({a, b, random_strength(random, length, steps), length});
      }
    }
    testing::expect_same(merge_greedily(count, arcs), reference_merge(count, arcs));
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(MergeTreeProperties, BlocksOfPartsMergeAsOne) {
  std::mt19937 random(12);
  for (const int steps : {0, 2, 40}) {
    SCOPED_TRACE(steps);
    // Parts in a grid, more than one block of them; some neighbours across corners.
    const int columns = 37;
    const int rows = 60;
    std::vector<Arc> arcs;
    for (int part = 1; part <= columns * rows; ++part) {
      std::vector<int> others = {part + 1, part + columns - 1, part + columns};
      if (part % columns == 0) others.erase(others.begin());
      if (part % columns == 1) std::erase(others, part + columns - 1);
      for (const int other : others) {
        if (other > columns * rows || random_int(random, 0, 9) == 0) continue;
        const int length = random_int(random, 1, 9);
        arcs.push_back({part, other, random_strength(random, length, steps), length});
      }
    }
    testing::expect_same(merge_greedily(columns * rows, arcs),
                         reference_merge(columns * rows, arcs));
    if (::testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace diacut
