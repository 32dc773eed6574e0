#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "diacut/hierarchy.hpp"
#include "label_checks.hpp"

namespace diacut {
namespace {

using testing::drawn_labels;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> small_regions_letters(const Labels& labels) {
  std::vector<std::string> rows;
  for (std::size_t i = 0; i < labels.values.size(); ++i) {
    if (i % static_cast<std::size_t>(labels.width) == 0) rows.emplace_back();
    rows.back() += labels.values[i] == 0 ? ' ' : static_cast<char>('A' + labels.values[i] - 1);
  }
  return rows;
}

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
  EXPECT_THAT(small_regions_letters(clean.leaves), ElementsAre("AAAABBBB",  //
                                                               "AAAABBBB",  //
                                                               "AAAACCCC",  //
                                                               "AAAACCCC"));
  ASSERT_EQ(clean.merges.size(), 2u);
  EXPECT_EQ(clean.merges[0].first, 2);
  EXPECT_EQ(clean.merges[0].second, 3);
  EXPECT_EQ(clean.merges[0].height, 0.2F);
  EXPECT_EQ(clean.merges[1].first, 1);
  EXPECT_EQ(clean.merges[1].second, 4);
  EXPECT_EQ(clean.merges[1].height, 0.6F);
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
  EXPECT_THAT(small_regions_letters(without_small_regions(tree, 5).leaves),
              ElementsAre("AAAABBBB", "AAAABBBB"));
  EXPECT_THAT(small_regions_letters(without_small_regions(tree, 9).leaves),
              ElementsAre("AAAAAAAA", "AAAAAAAA"));
}

TEST(WithoutSmallRegions, APieceOfTheDataStaysHoweverSmall) {
  const Hierarchy tree{drawn_labels({"AAA B", "AAA B"}), {}, 0.3};
  const Hierarchy clean = without_small_regions(tree, 100);
  check(clean);
  EXPECT_THAT(small_regions_letters(clean.leaves), ElementsAre("AAA B", "AAA B"));
  EXPECT_THAT(clean.merges, IsEmpty());
}

}  // namespace
}  // namespace diacut
