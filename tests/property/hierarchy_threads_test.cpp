// The hierarchy of a picture is the same to the bit for any number of threads.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "boundary_maps.hpp"
#include "core/parallel.hpp"
#include "diacut/hierarchy.hpp"
#include "image/colour.hpp"
#include "label_checks.hpp"
#include "region/arcs/arcs.hpp"
#include "region/arcs/borders.hpp"
#include "region/placement/placement.hpp"
#include "region/tree/hierarchy.hpp"
#include "region/watershed/watershed.hpp"

namespace diacut {
namespace {

struct ColouredMaps : BoundaryMaps {
  std::vector<std::uint8_t> colours;  ///< As Colours has them, of three channels.
};

ColouredMaps photograph(const std::string& name, int steps) {
  const Image image = repository_photograph(name);
  return {gradient_of(image, steps), lab_bytes(image)};
}

/// Noise in coarse steps with holes.
ColouredMaps noise(std::mt19937& random, int width, int height, int steps) {
  ColouredMaps maps{random_maps(random, width, height, steps, 0.02), {}};
  for (int i = 0; i < 3 * width * height; ++i) {
    maps.colours.push_back(static_cast<std::uint8_t>(random_int(random, 100, 150)));
  }
  return maps;
}

/// Sets the number of threads, and resets it.
class Threads {
 public:
  explicit Threads(int count) { set_parallel_threads(count); }
  ~Threads() { set_parallel_threads(0); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
};

struct Result {
  Hierarchy tree;
  Hierarchy learned;  ///< Merged by probability.
  Hierarchy full;
  Labels labels;
};

Result result_of(const ColouredMaps& maps) {
  Result result;
  result.tree = hierarchy(maps.strength, maps.orientation, maps.valid, maps.width, maps.height, {});
  LearnedMerging learned;
  learned.colours.channels = 3;
  learned.colours.values = maps.colours;
  learned.weights = load_merging_weights("");
  result.learned =
      hierarchy(maps.strength, maps.orientation, maps.valid, maps.width, maps.height, {}, &learned);
  std::vector<std::string> notes;
  result.labels = cut(result.tree, RegionParameters{}, notes);
  const int width = maps.width * 3 / 2;
  const int height = maps.height * 3 / 2;
  std::vector<std::uint8_t> levels;
  for (int i = 0; i < width * height; ++i) {
    levels.push_back(static_cast<std::uint8_t>(i * 2654435761U >> 29));
  }
  const std::vector<std::uint8_t> everywhere;
  if (maps.valid.empty()) {
    result.full = placed(result.tree, FullPicture{width, height, levels, everywhere});
  }
  return result;
}

void expect_the_same_for_any_threads(const ColouredMaps& maps) {
  Result one;
  {
    const Threads threads(1);
    one = result_of(maps);
    check(one.tree);
    check(one.learned);
  }
  for (const int count : {2, 3, 8}) {
    SCOPED_TRACE(count);
    const Threads threads(count);
    for (int again = 0; again < 3; ++again) {
      const Result several = result_of(maps);
      testing::expect_same(several.tree, one.tree);
      testing::expect_same(several.learned, one.learned);
      testing::expect_same(several.full, one.full);
      EXPECT_EQ(several.labels.count, one.labels.count);
      EXPECT_TRUE(several.labels.values == one.labels.values);
    }
  }
}

TEST(HierarchyThreads, OfPhotographs) {
  for (const std::string name : {"astronaut.jpg", "coffee.jpg", "rocket.jpg"}) {
    for (const int steps : {0, 12}) {
      SCOPED_TRACE(name + ", steps " + std::to_string(steps));
      const ColouredMaps maps = photograph(name, steps);
      ASSERT_GT(maps.strength.size(), 100000u);  // Several threads have work.
      expect_the_same_for_any_threads(maps);
    }
  }
}

TEST(HierarchyThreads, OfNoiseWithPlateaus) {
  std::mt19937 random(3);
  for (const int steps : {1, 2, 5, 200}) {
    SCOPED_TRACE(steps);
    expect_the_same_for_any_threads(noise(random, 211, 300, steps));
  }
}

TEST(HierarchyThreads, ArcsHaveTheLengthsOfTheBorders) {
  std::mt19937 random(4);
  for (const int steps : {2, 200}) {
    const ColouredMaps maps = noise(random, 301, 200, steps);
    const Labels basins = watershed(maps.strength, maps.valid, maps.width, maps.height);
    const std::vector<Arc> arcs =
        find_arcs(basins, [](std::size_t, std::size_t, double, double) { return 0.5; });
    const std::vector<Border> borders =
        find_borders({maps.width, maps.height, basins.count, basins.values});
    ASSERT_EQ(arcs.size(), borders.size());
    for (std::size_t k = 0; k < arcs.size(); ++k) {
      ASSERT_EQ(arcs[k].first, borders[k].first);
      ASSERT_EQ(arcs[k].second, borders[k].second);
      ASSERT_EQ(arcs[k].length, borders[k].length);
      ASSERT_EQ(arcs[k].strength, arcs[k].length * kUnitStrength / 2);
    }
  }
}

}  // namespace
}  // namespace diacut
