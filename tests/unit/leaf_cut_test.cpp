// Cuts of a hierarchy by seeds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "diacut/errors.hpp"
#include "diacut/hierarchy.hpp"
#include "diacut/seeds.hpp"
#include "label_checks.hpp"
#include "matchers.hpp"
#include "region/tree/hierarchy.hpp"

namespace diacut::testing {
namespace {

/// A, B and D are large; C is a speck that is merged with B and D together, and touches D more.
Hierarchy speck() {
  return {drawn_labels({"AAAABBBB",  //
                        "AAAABBBB",  //
                        "AAAADCCD",  //
                        "AAAADDDD"}),
          {{2, 4, 0.2F}, {3, 5, 0.4F}, {1, 6, 0.6F}},
          0.3};
}

TEST(WithoutSmallRegions, OneJoinsTheNeighbourWithTheLongestBoundary) {
  const Hierarchy clean = without_small_regions(speck(), 3);
  check(clean);
  EXPECT_THAT(letters(clean.leaves), ElementsAre("AAAABBBB",  //
                                                 "AAAABBBB",  //
                                                 "AAAACCCC",  //
                                                 "AAAACCCC"));
  expect_same(clean.merges, {{2, 3, 0.2F}, {1, 4, 0.6F}});
  EXPECT_EQ(clean.threshold, 0.3);
}

TEST(WithoutSmallRegions, ALeastSizeOfOneChangesNothing) {
  for (const int size : {0, 1, 2}) {
    const Hierarchy same = without_small_regions(speck(), size);
    EXPECT_EQ(same.leaves.values, speck().leaves.values);
    EXPECT_EQ(same.merges.size(), speck().merges.size());
  }
}

TEST(WithoutSmallRegions, SmallOnesThatMergeMayBeLargeTogether) {
  const Hierarchy tree{drawn_labels({"AABBCCCC", "AABBCCCC"}), {{1, 2, 0.2F}, {3, 4, 0.4F}}, 0.3};
  EXPECT_THAT(letters(without_small_regions(tree, 5).leaves), ElementsAre("AAAABBBB", "AAAABBBB"));
  EXPECT_THAT(letters(without_small_regions(tree, 9).leaves), ElementsAre("AAAAAAAA", "AAAAAAAA"));
}

TEST(WithoutSmallRegions, APieceOfTheDataStaysHoweverSmall) {
  const Hierarchy tree{drawn_labels({"AAA B", "AAA B"}), {}, 0.3};
  const Hierarchy clean = without_small_regions(tree, 100);
  check(clean);
  EXPECT_THAT(letters(clean.leaves), ElementsAre("AAA B", "AAA B"));
  EXPECT_THAT(clean.merges, IsEmpty());
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
      std::int32_t& leaf = of_leaf[static_cast<std::size_t>(tree.leaves.values[i])];
      if (random() % 4 != 0 || leaf != 0) continue;
      seeds.labels[i] = leaf = 1 + static_cast<std::int32_t>(random() % 3);
    }
    const std::set<std::int32_t> labels(seeds.labels.begin(), seeds.labels.end());
    std::vector<std::string> notes;
    if (labels.size() < 3) continue;  // 0 and one label.
    const SeededRegions found = cut_by_seeds(tree, seeds, notes);
    testing::expect_labels_contract(found.regions, kWidth, kHeight);
    // By threshold: each node of the tree is a region of some cut after some merges.
    std::vector<std::set<std::int32_t>> held(1);
    for (std::size_t leaf = 1; leaf < of_leaf.size(); ++leaf) {
      held.push_back(of_leaf[leaf] == 0 ? std::set<std::int32_t>() : std::set{of_leaf[leaf]});
    }
    for (const Merge& merge : tree.merges) {
      std::set<std::int32_t> both = held[static_cast<std::size_t>(merge.first)];
      both.insert(held[static_cast<std::size_t>(merge.second)].begin(),
                  held[static_cast<std::size_t>(merge.second)].end());
      held.push_back(both);
    }
    std::int64_t expected = 0;  // Nodes that hold one label at most below ones that hold more.
    std::vector<bool> is_child(held.size(), false);
    for (std::size_t k = 0; k < tree.merges.size(); ++k) {
      const std::size_t node = of_leaf.size() + k;
      for (const std::int32_t child : {tree.merges[k].first, tree.merges[k].second}) {
        is_child[static_cast<std::size_t>(child)] = true;
        if (held[node].size() > 1 && held[static_cast<std::size_t>(child)].size() <= 1) ++expected;
      }
    }
    for (std::size_t node = 1; node < held.size(); ++node) {
      if (!is_child[node] && held[node].size() <= 1) ++expected;
    }
    EXPECT_EQ(found.regions.count, expected);
    for (std::size_t i = 0; i < strength.size(); ++i) {
      if (seeds.labels[i] == 0) continue;
      EXPECT_EQ(found.seed_labels[static_cast<std::size_t>(found.regions.values[i]) - 1],
                seeds.labels[i]);
    }
  }
}

TEST(SeededCut, WrongSeedsAreRefused) {
  const auto refuse = [](const std::vector<std::string>& rows, const std::string& part) {
    std::vector<std::string> notes;
    Hierarchy tree = rectangle_and_angle();
    EXPECT_THAT(message_of<InputError>([&] { cut_by_seeds(tree, drawn_seeds(rows), notes); }),
                HasSubstr(part));
  };
  refuse({"1.2", "..."}, "3x2");
  refuse({"..........", "..........", "..........", ".........."}, "no labels");
  refuse({"4.........", "..........", "......4...", ".........."}, "one label");
  std::vector<std::string> notes;
  Hierarchy holed{drawn_labels({"A B"}), {}, 0.3};
  EXPECT_THROW(cut_by_seeds(holed, drawn_seeds({"123"}), notes), InputError);
  EXPECT_THAT(cut_by_seeds(holed, drawn_seeds({"1.2"}), notes).seed_labels, ElementsAre(1, 2));
}

}  // namespace
}  // namespace diacut::testing
