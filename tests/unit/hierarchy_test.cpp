#include "diacut/hierarchy.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>
#include <tuple>
#include <vector>

#include "diacut/errors.hpp"
#include "label_checks.hpp"
#include "matchers.hpp"
#include "region/arcs/arcs.hpp"
#include "region/tree/hierarchy.hpp"
#include "region/tree/merge_tree.hpp"
#include "region/watershed/watershed.hpp"

namespace diacut::testing {
namespace {

/// A map drawn with a digit a pixel, in tenths; a blank is a pixel without data.
struct Drawn {
  int width = 0;
  int height = 0;
  std::vector<float> strength;
  std::vector<std::uint8_t> valid;
};

Drawn draw(const std::vector<std::string>& rows) {
  Drawn drawn{static_cast<int>(rows.front().size()),
              static_cast<int>(rows.size()),
              drawn_numbers(rows, 0.1F),
              {}};
  for (const std::string& row : rows) {
    for (const char c : row) drawn.valid.push_back(c == ' ' ? 0 : 1);
  }
  return drawn;
}

Hierarchy grown(const std::vector<std::string>& rows) {
  const Drawn drawn = draw(rows);
  return hierarchy(drawn.strength, {}, drawn.valid, drawn.width, drawn.height, {});
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
  ASSERT_EQ(tree.merges.size(), 2u);
  EXPECT_EQ(tree.merges[0].first, 1);
  EXPECT_EQ(tree.merges[0].second, 2);
  EXPECT_FLOAT_EQ(tree.merges[0].height, 0.3F);
  EXPECT_FLOAT_EQ(tree.merges[1].height, 0.6F);
  EXPECT_THAT(letters(cut(tree, 0.29)), ElementsAre("AAABBBC", "AAABBBC"));
  EXPECT_THAT(letters(cut(tree, 0.31)), ElementsAre("AAAAAAB", "AAAAAAB"));
  EXPECT_THAT(letters(cut(tree, tree.merges[1].height)), ElementsAre("AAAAAAA", "AAAAAAA"));
  EXPECT_EQ(cut(tree, -1).count, 3);
  EXPECT_EQ(cut(tree, std::nan("")).count, 3);
  EXPECT_EQ(cut(tree, 0.31).count, 2);
  EXPECT_EQ(tree.threshold, kStrengthThreshold);
}

TEST(Hierarchy, ABoundaryCountsByItsDirection) {
  const Drawn drawn = draw({"0080", "0080", "0080"});
  const double quarter = std::numbers::pi / 4;
  for (int k = 0; k < 4; ++k) {
    const std::vector<float> angle(drawn.strength.size(), static_cast<float>(k * quarter));
    const Hierarchy tree =
        hierarchy(drawn.strength, angle, drawn.valid, drawn.width, drawn.height, {});
    ASSERT_EQ(tree.merges.size(), 1u);
    EXPECT_NEAR(tree.merges[0].height, 0.8 * std::abs(std::cos(k * quarter)), 1e-6);
    RegionParameters half;
    half.direction = 0.5;
    EXPECT_NEAR(hierarchy(drawn.strength, angle, drawn.valid, drawn.width, drawn.height, half)
                    .merges.at(0)
                    .height,
                0.4 + 0.4 * std::abs(std::cos(k * quarter)), 1e-6);
  }
}

TEST(Hierarchy, NotesSayWhereOtherNumbersOfRegionsWereWanted) {
  const Hierarchy tree = grown({"010 020 0"});
  for (const auto& [wanted, count, note] : {std::tuple(2, 3,
                                                       "2 regions were asked for, but the "
                                                       "pixels with data lie in 3 separate"),
                                            {6, 5, "6 regions were asked for"}}) {
    std::vector<std::string> notes;
    EXPECT_EQ(cut_to_count(tree, wanted, notes).count, count);
    EXPECT_THAT(notes, ElementsAre(HasSubstr(note)));
  }
  std::vector<std::string> notes;
  EXPECT_THROW(cut_to_count(tree, 0, notes), ConfigError);
}

TEST(Hierarchy, WithoutDataHasNoRegion) {
  const Hierarchy empty = grown({"  ", "  "});
  check(empty);
  EXPECT_EQ(cut(empty, 1).count, 0);
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

/// What check() finds wrong with a good tree after `damage`.
template <class Damage>
std::string fault(const Damage& damage) {
  Hierarchy tree;
  tree.leaves = drawn_labels({"AAB",  //
                              "CCB",  //
                              "DD "});
  tree.merges = {{3, 4, 0.25F}, {1, 5, 0.25F}, {2, 6, 0.5F}};
  check(tree);
  damage(tree);
  return message_of<InputError>([&] { check(tree); });
}

TEST(CheckHierarchy, FindsEachBrokenPromise) {
  using Tree = Hierarchy&;
  EXPECT_EQ(fault([](Tree) {}), "");
  EXPECT_THAT(fault([](Tree t) { t.leaves.width = 4; }), HasSubstr("4 x 3"));
  EXPECT_THAT(fault([](Tree t) { t.leaves.width = 0; }), HasSubstr("0 x 3"));
  EXPECT_THAT(fault([](Tree t) { t.leaves.count = 5; }), HasSubstr("scan order"));
  EXPECT_THAT(fault([](Tree t) { std::swap(t.leaves.values[0], t.leaves.values[2]); }),
              HasSubstr("scan order"));
  EXPECT_THAT(fault([](Tree t) { t.leaves.values[8] = 1; }), HasSubstr("4-connected"));
  EXPECT_THAT(fault([](Tree t) { t.leaves.values[8] = -1; }), HasSubstr("scan order"));
  EXPECT_THAT(fault([](Tree t) { t.merges[0].first = 0; }), HasSubstr("merge 0"));
  EXPECT_THAT(fault([](Tree t) { t.merges[0].second = 5; }), HasSubstr("merge 0"));
  EXPECT_THAT(fault([](Tree t) { std::swap(t.merges[1].first, t.merges[1].second); }),
              HasSubstr("merge 1"));
  EXPECT_THAT(fault([](Tree t) { t.merges[1].first = 3; }), HasSubstr("merged already"));
  EXPECT_THAT(fault([](Tree t) { t.merges[1].height = 0.2F; }), HasSubstr("height of merge 1"));
  EXPECT_THAT(fault([](Tree t) { t.merges[2].height = 1.1F; }), HasSubstr("height of merge 2"));
  EXPECT_THAT(fault([](Tree t) { t.merges[0].height = -0.1F; }), HasSubstr("height of merge 0"));
  EXPECT_THAT(fault([](Tree t) { t.merges[2].height = std::nanf(""); }), HasSubstr("merge 2"));
  EXPECT_THAT(fault([](Tree t) { t.merges.pop_back(); }), HasSubstr("never merge"));
  EXPECT_THAT(fault([](Tree t) { t.merges.assign(9, {1, 2, 0}); }), HasSubstr("9 merges"));
  EXPECT_THAT(fault([](Tree t) {
                t.merges = {{1, 4, 0.25F}, {3, 5, 0.25F}, {2, 6, 0.5F}};
              }),
              HasSubstr("merge 0 joins regions that do not touch"));
  EXPECT_THAT(fault([](Tree t) { t.threshold = 2; }), HasSubstr("threshold"));
}

}  // namespace
}  // namespace diacut::testing
