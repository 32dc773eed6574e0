#include "diacut/hierarchy.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "diacut/errors.hpp"
#include "label_checks.hpp"
#include "matchers.hpp"
#include "refusal.hpp"
#include "region/arcs/arcs.hpp"
#include "region/tree/hierarchy.hpp"
#include "region/tree/merge_tree.hpp"
#include "region/watershed/watershed.hpp"

namespace diacut::testing {
namespace {

/// The hierarchy of a map drawn with a digit a pixel, in tenths; a blank is a pixel without data.
Hierarchy grown(const std::vector<std::string>& rows, const std::vector<float>& angle = {},
                const RegionParameters& parameters = {}) {
  std::vector<std::uint8_t> valid;
  for (const std::string& row : rows) {
    for (const char c : row) valid.push_back(c == ' ' ? 0 : 1);
  }
  return hierarchy(drawn_numbers(rows, 0.1F), angle, valid, static_cast<int>(rows.front().size()),
                   static_cast<int>(rows.size()), parameters);
}

std::vector<Arc> arcs_of(const std::vector<std::string>& rows, const BoundaryStrength& strength) {
  return find_arcs(drawn_labels(rows), strength);
}

TEST(Arcs, StepsOfASlopeHaveTheNormalOfTheWholeLine) {
  // Two pixels to the right for one down: the boundary's direction is (2, 1).
  std::vector<std::string> rows;
  for (int y = 0; y < 12; ++y) {
    rows.push_back(std::string(static_cast<std::size_t>(2 * y), 'B') +
                   std::string(static_cast<std::size_t>(24 - 2 * y), 'A'));
  }
  const double nx = 1 / std::sqrt(5.0);
  const double ny = -2 / std::sqrt(5.0);
  double least = 1;
  arcs_of(rows, [&](std::size_t, std::size_t, double x, double y) {
    EXPECT_NEAR(std::hypot(x, y), 1, 1e-12);
    least = std::min(least, std::abs(nx * x + ny * y));
    return 0.0;
  });
  // Its ends may be off by half a step each, on a length of 24 pixels.
  EXPECT_GT(least, std::cos(std::atan2(1.0, 24.0)));
}

TEST(Arcs, ACornerDividesABoundary) {
  const std::vector<std::string> rows = {"AAAAAAAA", "AAAAAAAA", "BBBBBAAA", "BBBBBAAA",
                                         "BBBBBAAA", "BBBBBAAA", "BBBBBAAA", "BBBBBAAA"};
  arcs_of(rows, [&](std::size_t p, std::size_t q, double nx, double ny) {
    const bool beside = q == p + 1;
    EXPECT_NEAR(std::abs(beside ? nx : ny), 1, 1e-12) << p << " " << q;
    return 0.0;
  });
}

TEST(Arcs, ARegionWithinAnotherHasAClosedBoundary) {
  const std::vector<Arc> arcs =
      arcs_of({"AAAAA", "ABAAA", "AAAAA", "AAACA"},
              [](std::size_t, std::size_t, double, double) { return 0.5; });
  ASSERT_EQ(arcs.size(), 2u);
  EXPECT_EQ(arcs[0].length, 4);
  EXPECT_EQ(arcs[0].strength, 2 * kUnitStrength);
  EXPECT_EQ(arcs[1].length, 3);
}

TEST(Arcs, ALineOfSinglePixelsDownIsNotOneAcross) {
  for (const std::vector<std::string>& rows :
       {std::vector<std::string>{"ABC"}, std::vector<std::string>{"A", "B", "C"}}) {
    const bool across = rows.size() == 1;
    const std::vector<Arc> arcs =
        arcs_of(rows, [&](std::size_t p, std::size_t q, double nx, double ny) {
          EXPECT_EQ(q, p + 1);
          EXPECT_EQ(std::abs(across ? nx : ny), 1.0);
          return 1.0;
        });
    ASSERT_EQ(arcs.size(), 2u);
    EXPECT_EQ(arcs[1].first, 2);
    EXPECT_EQ(arcs[1].second, 3);
  }
}

TEST(Hierarchy, MergesOverTheWeakestCrest) {
  const Hierarchy tree = grown({"0030060",  //
                                "0030060"});
  EXPECT_THAT(letters(tree.leaves), ElementsAre("AAABBBC", "AAABBBC"));
  expect_same(tree.merges, {{1, 2, 0.3F}, {3, 4, 0.6F}});
  EXPECT_THAT(letters(cut(tree, 0.31)), ElementsAre("AAAAAAB", "AAAAAAB"));
  for (const auto& [threshold, count] :
       {std::pair(-1.0, 3), {std::nan(""), 3}, {0.29, 3}, {0.31, 2}, {1.0 * 0.6F, 1}}) {
    EXPECT_EQ(cut(tree, threshold).count, count) << threshold;
  }
  EXPECT_EQ(tree.threshold, kStrengthThreshold);
}

TEST(Hierarchy, ABoundaryCountsByItsDirection) {
  RegionParameters half;
  half.direction = 0.5;
  for (int k = 0; k < 4; ++k) {
    const double angle = k * std::numbers::pi / 4;
    const std::vector<float> angles(12, static_cast<float>(angle));
    const auto height = [&](const RegionParameters& parameters) {
      return grown({"0080", "0080", "0080"}, angles, parameters).merges.at(0).height;
    };
    EXPECT_NEAR(height({}), 0.8 * std::abs(std::cos(angle)), 1e-6);
    EXPECT_NEAR(height(half), 0.4 + 0.4 * std::abs(std::cos(angle)), 1e-6);
  }
}

TEST(Hierarchy, NotesSayWhereOtherNumbersOfRegionsWereWanted) {
  const Hierarchy tree = grown({"010 020 0"});
  std::vector<std::string> notes;
  EXPECT_EQ(cut_to_count(tree, 2, notes).count, 3);
  EXPECT_EQ(cut_to_count(tree, 6, notes).count, 5);
  EXPECT_THAT(notes, ElementsAre(HasSubstr("2 regions were asked for, but the pixels with data lie "
                                           "in 3 separate"),
                                 HasSubstr("6 regions were asked for")));
  EXPECT_THROW(cut_to_count(tree, 0, notes), ConfigError);
}

TEST(Hierarchy, CompactnessDividesLargeRegionsFirst) {
  const Hierarchy tree = grown({"00000300009060"});
  for (const auto& [compactness, expected] :
       {std::pair(0.0, "AAAAAAAAAAABBC"), {0.5, "AAAAAABBBBBCCC"}, {1.0, "AAAAAABBBBBCCC"}}) {
    RegionParameters wanted;
    wanted.regions = 3;
    wanted.compactness = compactness;
    wanted.min_size = *parse_least_size("0");
    std::vector<std::string> notes;
    EXPECT_THAT(letters(cut(tree, wanted, notes)), ElementsAre(expected)) << compactness;
    EXPECT_TRUE(notes.empty());
  }
}

TEST(Hierarchy, WithoutDataHasNoRegion) {
  const Hierarchy empty = grown({"  ", "  "});
  check(empty);
  EXPECT_EQ(cut(empty, 1).count, 0);
  std::vector<std::string> notes;
  EXPECT_EQ(cut_to_count(empty, 1, notes).count, 0);
}

TEST(Hierarchy, WhatIsNotFiniteOrDoesNotFitIsTold) {
  std::vector<float> map(6, 0.5F);
  const std::vector<float> angle(6, 0.0F);
  EXPECT_THROW(hierarchy(map, angle, {}, 3, 3, {}), InputError);
  EXPECT_THROW(hierarchy(map, {1.0F}, {}, 3, 2, {}), InputError);
  EXPECT_THROW(hierarchy(map, {}, {1, 1}, 3, 2, {}), InputError);
  EXPECT_THROW(hierarchy({}, {}, {}, 0, 0, {}), InputError);
  map[4] = std::nanf("");
  EXPECT_THROW(hierarchy(map, angle, {}, 3, 2, {}), NumericalError);
  EXPECT_THROW(hierarchy(angle, map, {}, 3, 2, {}), NumericalError);
  // Where there is no data anything may stand.
  const Hierarchy tree = hierarchy(map, map, {1, 1, 1, 1, 0, 1}, 3, 2, {});
  check(tree);
  EXPECT_THAT(letters(tree.leaves), ElementsAre("AAA", "A A"));
  // Beyond [0, 1] counts as its end.
  EXPECT_EQ(hierarchy({-3, 7, -3}, {}, {}, 3, 1, {}).merges.at(0).height, 1.0F);
}

TEST(CheckHierarchy, FindsEachBrokenPromise) {
  using Tree = Hierarchy&;
  const std::pair<void (*)(Tree), const char*> cases[] = {
      {[](Tree t) { t.leaves.width = 4; }, "4 x 3"},
      {[](Tree t) { t.leaves.width = 0; }, "0 x 3"},
      {[](Tree t) { t.leaves.count = 5; }, "scan order"},
      {[](Tree t) { std::swap(t.leaves.values[0], t.leaves.values[2]); }, "scan order"},
      {[](Tree t) { t.leaves.values[8] = 1; }, "4-connected"},
      {[](Tree t) { t.leaves.values[8] = -1; }, "scan order"},
      {[](Tree t) { t.merges[0].first = 0; }, "merge 0"},
      {[](Tree t) { t.merges[0].second = 5; }, "merge 0"},
      {[](Tree t) { std::swap(t.merges[1].first, t.merges[1].second); }, "merge 1"},
      {[](Tree t) { t.merges[1].first = 3; }, "merged already"},
      {[](Tree t) { t.merges[1].height = 0.2F; }, "height of merge 1"},
      {[](Tree t) { t.merges[2].height = 1.1F; }, "height of merge 2"},
      {[](Tree t) { t.merges[0].height = -0.1F; }, "height of merge 0"},
      {[](Tree t) { t.merges[2].height = std::nanf(""); }, "merge 2"},
      {[](Tree t) { t.merges.pop_back(); }, "never merge"},
      {[](Tree t) {
         t.merges.assign(9, {1, 2, 0});
       },
       "9 merges"},
      {[](Tree t) {
         t.merges = {{1, 4, 0.25F}, {3, 5, 0.25F}, {2, 6, 0.5F}};
       },
       "merge 0 joins regions that do not touch"},
      {[](Tree t) { t.threshold = 2; }, "threshold"}};
  for (const auto& [damage, told] : cases) {
    Hierarchy tree;
    tree.leaves = drawn_labels({"AAB",  //
                                "CCB",  //
                                "DD "});
    tree.merges = {{3, 4, 0.25F}, {1, 5, 0.25F}, {2, 6, 0.5F}};
    check(tree);
    damage(tree);
    expect_refused([&] { check(tree); }, told);
  }
}

}  // namespace
}  // namespace diacut::testing
