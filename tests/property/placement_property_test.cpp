// Hierarchies of random maps, placed in larger pictures and freed of small regions: what holds of
// each of them.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

#include "boundary_maps.hpp"
#include "diacut/hierarchy.hpp"
#include "image/resize.hpp"
#include "label_checks.hpp"
#include "region/placement/placement.hpp"
#include "region/tree/hierarchy.hpp"

namespace diacut::testing {
namespace {

/// A hierarchy found in a small picture, and the picture that it is placed in.
struct Case {
  Hierarchy found;
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> levels;
  std::vector<std::uint8_t> valid;

  FullPicture picture() const { return {width, height, levels, valid}; }
};

Case random_case(std::mt19937& random) {
  Case made;
  const int w = random_int(random, 1, 17);
  const int h = random_int(random, 1, 17);
  made.width = w + random_int(random, 0, 5) * random_int(random, 0, w) + random_int(random, 0, 3);
  made.height = h + random_int(random, 0, 5) * random_int(random, 0, h);
  const auto pixels = static_cast<std::size_t>(made.width * made.height);
  const int steps = random_int(random, 1, 255);
  for (std::size_t i = 0; i < pixels; ++i) {
    made.levels.push_back(static_cast<std::uint8_t>(random_int(random, 0, steps)));
  }
  if (random_int(random, 0, 1) == 0) {
    const int share = random_int(random, 1, 9);
    for (std::size_t i = 0; i < pixels; ++i) {
      made.valid.push_back(random_int(random, 0, 9) < share ? 1 : 0);
    }
  }
  Image image{made.width, made.height, 1, std::vector<float>(pixels, 0.5F), made.valid, {}};
  for (std::size_t i = 0; i < made.valid.size(); ++i) {
    if (made.valid[i] == 0) image.pixels[i] = 0;
  }
  const Image small = reduced(image, {w, h});
  std::vector<float> strength;
  for (int i = 0; i < w * h; ++i) {
    strength.push_back(static_cast<float>(random_int(random, 0, 12)) / 12.0F);
  }
  made.found = hierarchy(strength, {}, small.valid, w, h, {});
  return made;
}

TEST(PlacementProperties, HoldForAnyHierarchy) {
  std::mt19937 random(20260211);
  for (int round = 0; round < 400; ++round) {
    const Case made = random_case(random);
    const Hierarchy full = placed(made.found, made.picture());
    ASSERT_NO_THROW(check(full)) << "round " << round;
    expect_labels_contract(full.leaves, made.width, made.height, made.valid);
    EXPECT_EQ(full.threshold, made.found.threshold);
    if (!made.valid.empty()) continue;
    // Nothing parts the leaves that were found: each is one leaf again.
    EXPECT_EQ(full.leaves.count, made.found.leaves.count);
    ASSERT_EQ(full.merges.size(), made.found.merges.size());
  }
}

TEST(PlacementProperties, OfTheSameSizeEveryLeafKeepsItsCore) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    Case made = random_case(random);
    made.width = made.found.leaves.width;
    made.height = made.found.leaves.height;
    made.levels.assign(made.found.leaves.values.size(), 0);
    made.valid.assign(made.found.leaves.values.size(), 1);
    for (std::size_t i = 0; i < made.valid.size(); ++i) {
      made.valid[i] = made.found.leaves.values[i] != 0 ? 1 : 0;
    }
    const Hierarchy full = placed(made.found, made.picture());
    ASSERT_NO_THROW(check(full));
    EXPECT_EQ(full.leaves.count, made.found.leaves.count) << "round " << round;
  }
}

TEST(SmallRegionProperties, HoldForAnyHierarchy) {
  std::mt19937 random(20260212);
  for (int round = 0; round < 400; ++round) {
    const Case made = random_case(random);
    const int least = random_int(random, 0, 40);
    const Hierarchy clean = without_small_regions(made.found, least);
    ASSERT_NO_THROW(check(clean)) << "round " << round;
    std::map<std::int32_t, std::int64_t> sizes;
    for (const std::int32_t leaf : clean.leaves.values) ++sizes[leaf];
    // Only what touches nothing may be smaller.
    std::vector<char> merged(static_cast<std::size_t>(clean.leaves.count) + 1, 0);
    for (const Merge& merge : clean.merges) {
      for (const std::int32_t child : {merge.first, merge.second}) {
        if (child <= clean.leaves.count) merged[child] = 1;
      }
    }
    for (const auto& [leaf, size] : sizes) {
      if (leaf == 0 || merged[leaf] == 0) continue;
      EXPECT_GE(size, least) << "leaf " << leaf << " of round " << round;
    }
    // A region that is large enough at a threshold keeps its pixels, and may only gain.
    const double threshold = random_int(random, 0, 12) / 12.0;
    const Labels before = cut(made.found, threshold);
    const Labels after = cut(clean, threshold);
    std::map<std::int32_t, std::int64_t> before_size;
    for (const std::int32_t label : before.values) ++before_size[label];
    std::map<std::int32_t, std::int32_t> holder;
    for (std::size_t i = 0; i < before.values.size(); ++i) {
      if (before.values[i] == 0 || before_size[before.values[i]] < least) continue;
      const auto [entry, is_new] = holder.emplace(before.values[i], after.values[i]);
      EXPECT_EQ(entry->second, after.values[i]);
    }
    // Idempotent.
    const Hierarchy again = without_small_regions(clean, least);
    EXPECT_EQ(again.leaves.values, clean.leaves.values);
    EXPECT_EQ(again.merges.size(), clean.merges.size());
  }
}

}  // namespace
}  // namespace diacut::testing
