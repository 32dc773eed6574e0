// Cuts of a hierarchy by seeds.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "diacut/hierarchy.hpp"
#include "diacut/seeds.hpp"
#include "label_checks.hpp"
#include "matchers.hpp"
#include "region/tree/hierarchy.hpp"

namespace diacut::testing {
namespace {

/// A, B and C are large; D is a speck that is merged with B and C together, and touches C more.
Hierarchy speck() {
  return {drawn_labels({"AAAABBBB",  //
                        "AAAABBBB",  //
                        "AAAACDDC",  //
                        "AAAACCCC"}),
          {{2, 3, 0.2F}, {4, 5, 0.4F}, {1, 6, 0.6F}},
          0.3};
}

TEST(WithoutSmallRegions, JoinTheNeighbourWithTheLongestBoundary) {
  using Rows = std::vector<std::string>;
  struct Case {
    Hierarchy tree;
    int size;
    Rows leaves;
    std::vector<Merge> merges;
  };
  // Regions that merge may be large together.
  const Hierarchy three{drawn_labels({"AABBCCCC", "AABBCCCC"}), {{1, 2, 0.2F}, {3, 4, 0.4F}}, 0.3};
  // A piece of the data stays however small it is.
  const Hierarchy apart{drawn_labels({"AAA B", "AAA B"}), {}, 0.3};
  std::vector<Case> cases = {{speck(),
                              3,
                              {"AAAABBBB",  //
                               "AAAABBBB",  //
                               "AAAACCCC",  //
                               "AAAACCCC"},
                              {{2, 3, 0.2F}, {1, 4, 0.6F}}},
                             {three, 5, {"AAAABBBB", "AAAABBBB"}, {{1, 2, 0.4F}}},
                             {three, 9, {"AAAAAAAA", "AAAAAAAA"}, {}},
                             {apart, 100, {"AAA B", "AAA B"}, {}}};
  for (const int size : {0, 1, 2}) {
    cases.push_back({speck(), size, letters(speck().leaves), speck().merges});
  }
  for (const auto& [tree, size, leaves, merges] : cases) {
    const Hierarchy clean = without_small_regions(tree, size);
    check(clean);
    EXPECT_EQ(letters(clean.leaves), leaves);
    expect_same(clean.merges, merges);
    EXPECT_EQ(clean.threshold, 0.3);
  }
}

/// Digits are labels, dots no seeds.
Seeds drawn_seeds(const std::vector<std::string>& rows) {
  Labels drawn = drawn_labels(rows);
  return {drawn.width, drawn.height, std::move(drawn.values)};
}

std::vector<std::string> digits(const Labels& labels) { return letters(labels, '1', '0'); }

TEST(SeededCut, TakesTheLargestNodesWithOneLabel) {
  using Rows = std::vector<std::string>;
  struct Case {
    Rows seeds;
    Rows expected;
    std::vector<std::int32_t> labels;  ///< Of the regions.
    Rows notes;
  };
  for (const auto& [seeds, expected, labels, told] :
       {Case{{"7.........",  //
              "..........",  //
              ".5..5.....",  //
              ".........."},
             {"7777777777",  //
              "7555577777",  //
              "7555577777",  //
              "7777777777"},
             {7, 5},
             {}},
        // The ground joins the angle first, so that it stays whole beside the halves of the
        // rectangle: a region without seeds has the label 0.
        {{"..........",  //
          ".1..2.....",  //
          "..........",  //
          ".........."},
         {"0000000000",  //
          "0112200000",  //
          "0112200000",  //
          "0000000000"},
         {0, 1, 2},
         {"1 of 3 regions hold no seed"}},
        // A leaf with several labels has that of most of its seeds.
        {{"3322......",  //
          "......9...",  //
          "......9...",  //
          "3........."},
         {"3333333333",  //
          "3000039993",  //
          "3000039333",  //
          "3333339333"},
         {3, 0, 9},
         {"1 region of the finest division holds seeds of several", "hold no seed"}}}) {
    std::vector<std::string> notes;
    const SeededRegions found = cut_by_seeds(rectangle_and_angle(), drawn_seeds(seeds), notes);
    EXPECT_EQ(digits(written_labels(found)), expected);
    EXPECT_EQ(found.seed_labels, labels);
    EXPECT_EQ(written_labels(found).count, *std::max_element(labels.begin(), labels.end()));
    ASSERT_EQ(notes.size(), told.size());
    for (std::size_t k = 0; k < told.size(); ++k) EXPECT_THAT(notes[k], HasSubstr(told[k]));
  }
}

TEST(SeededCut, IsTheCoarsestDivisionThatKeepsLabelsApart) {
  std::mt19937 random(20261124);
  for (int round = 0; round < 60; ++round) {
    constexpr int kWidth = 9;
    constexpr int kHeight = 7;
    std::vector<float> strength(kWidth * kHeight);
    for (float& each : strength) each = static_cast<float>(random() % 5) / 4;
    const Hierarchy tree = hierarchy(strength, {}, {}, kWidth, kHeight, {});
    Seeds seeds{kWidth, kHeight, std::vector<std::int32_t>(strength.size(), 0)};
    std::vector<std::int32_t> of_leaf(static_cast<std::size_t>(tree.leaves.count) + 1, 0);
    for (std::size_t i = 0; i < strength.size(); ++i) {
      std::int32_t& leaf = of_leaf[tree.leaves.values[i]];
      if (random() % 4 != 0 || leaf != 0) continue;
      seeds.labels[i] = leaf = 1 + static_cast<std::int32_t>(random() % 3);
    }
    const std::set<std::int32_t> labels(seeds.labels.begin(), seeds.labels.end());
    std::vector<std::string> notes;
    if (labels.size() < 3) continue;  // 0 and one label.
    const SeededRegions found = cut_by_seeds(tree, seeds, notes);
    expect_labels_contract(found.regions, kWidth, kHeight);
    std::vector<unsigned> held = {0};  // By node, the labels of its seeds as bits.
    for (std::size_t leaf = 1; leaf < of_leaf.size(); ++leaf) {
      held.push_back(of_leaf[leaf] == 0 ? 0U : 1U << of_leaf[leaf]);
    }
    for (const Merge& merge : tree.merges) {
      held.push_back(held[merge.first] | held[merge.second]);
    }
    // Nodes that hold one label at most below ones that hold more; there is one root.
    const auto is_whole = [&](std::size_t node) { return std::popcount(held[node]) <= 1; };
    std::int64_t expected = 0;
    for (std::size_t k = 0; k < tree.merges.size(); ++k) {
      if (is_whole(of_leaf.size() + k)) continue;
      for (const std::int32_t child : {tree.merges[k].first, tree.merges[k].second}) {
        expected += is_whole(static_cast<std::size_t>(child)) ? 1 : 0;
      }
    }
    EXPECT_EQ(found.regions.count, expected);
    for (std::size_t i = 0; i < strength.size(); ++i) {
      if (seeds.labels[i] == 0) continue;
      EXPECT_EQ(found.seed_labels[static_cast<std::size_t>(found.regions.values[i]) - 1],
                seeds.labels[i]);
    }
  }
}

TEST(SeededCut, OfPiecesOfTheData) {
  std::vector<std::string> notes;
  const Hierarchy holed{drawn_labels({"A B"}), {}, 0.3};
  EXPECT_THAT(cut_by_seeds(holed, drawn_seeds({"1.2"}), notes).seed_labels, ElementsAre(1, 2));
}

}  // namespace
}  // namespace diacut::testing
