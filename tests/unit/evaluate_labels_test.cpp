// Scores of label images in memory: those that diacut-evaluate computes of the same labels in
// files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "diacut/errors.hpp"
#include "diacut/evaluate.hpp"

namespace diacut {
namespace {

constexpr int kSide = 8;
using Map = std::vector<std::int32_t>;

/// Labels 1 left of a column and 2 from it on.
Map halves(int column) {
  Map labels;
  for (int i = 0; i < kSide * kSide; ++i) labels.push_back(i % kSide < column ? 1 : 2);
  return labels;
}

TEST(LabelScores, OfEqualLabelsArePerfectWhateverTheirNumbers) {
  Map renamed = halves(4);
  for (std::int32_t& label : renamed) label = 7 - 5 * label;
  const LabelScores scores = evaluate_labels(halves(4), {renamed}, kSide, kSide);
  EXPECT_DOUBLE_EQ(scores.precision, 1);
  EXPECT_DOUBLE_EQ(scores.recall, 1);
  EXPECT_DOUBLE_EQ(scores.f, 1);
  EXPECT_DOUBLE_EQ(scores.covering, 1);
  EXPECT_DOUBLE_EQ(scores.pri, 1);
  EXPECT_NEAR(scores.vi, 0, 1e-12);
}

TEST(LabelScores, OfOneRegionAgainstTwoHalves) {
  const Map whole(kSide * kSide, 1);
  const LabelScores scores = evaluate_labels(whole, {halves(4)}, kSide, kSide);
  EXPECT_DOUBLE_EQ(scores.recall, 0);
  EXPECT_DOUBLE_EQ(scores.f, 0);
  // Each half covers half of the whole.
  EXPECT_DOUBLE_EQ(scores.covering, 0.5);
  // The conditional entropy of the halves is one bit.
  EXPECT_NEAR(scores.vi, 1, 1e-12);
  // Of 64 * 63 / 2 pairs the 32 * 32 between the halves disagree.
  EXPECT_NEAR(scores.pri, 1 - 1024.0 / 2016, 1e-12);
}

TEST(LabelScores, AreMeansOverPeople) {
  const LabelScores both = evaluate_labels(halves(4), {halves(4), Map(64, 1)}, kSide, kSide);
  EXPECT_NEAR(both.vi, 0.5, 1e-12);
  EXPECT_NEAR(both.pri, (1 + (1 - 1024.0 / 2016)) / 2, 1e-12);
  EXPECT_NEAR(both.covering, (64 + 32) / 128.0, 1e-12);
}

TEST(LabelScores, NeedTruthOfTheImagesSize) {
  EXPECT_THROW(evaluate_labels(halves(4), {}, kSide, kSide), InputError);
  EXPECT_THROW(evaluate_labels(halves(4), {Map(63, 1)}, kSide, kSide), InputError);
  EXPECT_THROW(evaluate_labels(halves(4), {halves(4)}, kSide, kSide + 1), InputError);
  EXPECT_THROW(evaluate_labels(Map(), {Map()}, 0, 0), InputError);
}

}  // namespace
}  // namespace diacut
