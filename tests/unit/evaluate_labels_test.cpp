// Scores of objects: small cases by hand, and many drawn ones against plain loops over all pairs
// and all assignments.
//
// Scores of label images in memory: those that diacut-evaluate computes of the same labels in
// files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include "diacut/errors.hpp"
#include "diacut/evaluate.hpp"
#include "evaluate/region_score.hpp"

namespace diacut {
namespace {

using EvaluateObjectsMap = std::vector<std::int32_t>;

std::vector<std::int64_t> matched(const ObjectScores& scores) {
  std::vector<std::int64_t> counts;
  for (const ObjectMatches& each : scores.matches) counts.push_back(each.matched);
  return counts;
}

/// One row of pixels.
ObjectScores of_row(const EvaluateObjectsMap& labels, const EvaluateObjectsMap& truth) {
  return evaluate_objects(labels, truth, static_cast<int>(labels.size()), 1);
}

TEST(ObjectScores, OfEqualObjectsArePerfectWhateverTheirNumbers) {
  const ObjectScores scores = of_row({0, 3, 3, -1, 0, 9}, {0, 1, 1, 7, 0, 2});
  ASSERT_EQ(scores.matches.size(), 10u);
  EXPECT_DOUBLE_EQ(scores.matches.front().overlap, 0.5);
  EXPECT_DOUBLE_EQ(scores.matches.back().overlap, 0.95);
  for (const ObjectMatches& each : scores.matches) {
    EXPECT_EQ(each.matched, 3);
    EXPECT_EQ(each.found, 3);
    EXPECT_EQ(each.truth, 3);
    EXPECT_DOUBLE_EQ(each.f1(), 1);
    EXPECT_DOUBLE_EQ(each.average_precision(), 1);
  }
  EXPECT_EQ(scores.splits, 0);
  EXPECT_EQ(scores.merges, 0);
}

TEST(ObjectScores, CountAnOverlapThatIsReachedExactly) {
  // 3 of 4 pixels are common: .75.
  EXPECT_THAT(matched(of_row({1, 1, 1, 0}, {1, 1, 1, 1})),
              ::testing::ElementsAre(1, 1, 1, 1, 1, 1, 0, 0, 0, 0));
  // 11 of 20 are .55, which no float is.
  EvaluateObjectsMap eleven(20, 0);
  std::fill_n(eleven.begin(), 11, 1);
  EXPECT_THAT(matched(of_row(eleven, EvaluateObjectsMap(20, 1))),
              ::testing::ElementsAre(1, 1, 0, 0, 0, 0, 0, 0, 0, 0));
}

TEST(ObjectScores, HalvesMatchOnce) {
  const ObjectScores split = of_row({1, 1, 2, 2, 0}, {5, 5, 5, 5, 0});
  EXPECT_EQ(split.matches[0].matched, 1);
  EXPECT_DOUBLE_EQ(split.matches[0].precision(), 0.5);
  EXPECT_DOUBLE_EQ(split.matches[0].recall(), 1);
  EXPECT_DOUBLE_EQ(split.matches[0].f1(), 2.0 / 3);
  EXPECT_DOUBLE_EQ(split.matches[0].average_precision(), 0.5);
  EXPECT_EQ(split.matches[1].matched, 0);
  EXPECT_EQ(split.splits, 1);
  EXPECT_EQ(split.merges, 0);
  const ObjectScores merged = of_row({5, 5, 5, 5, 0}, {1, 1, 2, 2, 0});
  EXPECT_EQ(merged.matches[0].matched, 1);
  EXPECT_EQ(merged.splits, 0);
  EXPECT_EQ(merged.merges, 1);
}

TEST(ObjectScores, OfNothing) {
  const EvaluateObjectsMap none(6, 0);
  const ObjectMatches both = of_row(none, none).matches[0];
  EXPECT_DOUBLE_EQ(both.f1(), 1);
  EXPECT_DOUBLE_EQ(both.average_precision(), 1);
  const ObjectMatches missed = of_row(none, EvaluateObjectsMap(6, 1)).matches[0];
  EXPECT_DOUBLE_EQ(missed.recall(), 0);
  EXPECT_DOUBLE_EQ(missed.f1(), 0);
  EXPECT_DOUBLE_EQ(missed.average_precision(), 0);
  const ObjectMatches invented = of_row(EvaluateObjectsMap(6, 1), none).matches[0];
  EXPECT_DOUBLE_EQ(invented.precision(), 0);
  EXPECT_DOUBLE_EQ(invented.f1(), 0);
}

TEST(ObjectScores, NeedMapsOfTheImagesSize) {
  EXPECT_THROW(evaluate_objects(EvaluateObjectsMap(6, 1), EvaluateObjectsMap(5, 1), 3, 2),
               InputError);
  EXPECT_THROW(evaluate_objects(EvaluateObjectsMap(5, 1), EvaluateObjectsMap(6, 1), 3, 2),
               InputError);
  EXPECT_THROW(evaluate_objects(EvaluateObjectsMap(), EvaluateObjectsMap(), 0, 0), InputError);
}

constexpr int kEvaluateObjectsSide = 12;

/// Up to five rectangles, later ones above earlier ones.
EvaluateObjectsMap rectangles(std::mt19937& random) {
  const auto below = [&](int end) {
    return static_cast<int>(random() % static_cast<unsigned>(end));
  };
  EvaluateObjectsMap map(kEvaluateObjectsSide * kEvaluateObjectsSide, 0);
  const int count = below(6);
  for (int label = 1; label <= count; ++label) {
    const int left = below(kEvaluateObjectsSide);
    const int top = below(kEvaluateObjectsSide);
    const int right = std::min(kEvaluateObjectsSide, left + 2 + below(6));
    const int bottom = std::min(kEvaluateObjectsSide, top + 2 + below(6));
    for (int y = top; y < bottom; ++y) {
      for (int x = left; x < right; ++x)
        map[static_cast<std::size_t>(y * kEvaluateObjectsSide + x)] = label;
    }
  }
  return map;
}

/// A map whose objects differ from those of another by few pixels: moved by up to one pixel, or
/// joined.
EvaluateObjectsMap disturbed(const EvaluateObjectsMap& map, std::mt19937& random) {
  EvaluateObjectsMap result(map.size(), 0);
  const int right = static_cast<int>(random() % 2);
  const int join = static_cast<int>(random() % 4);
  for (int i = 0; i + right < kEvaluateObjectsSide * kEvaluateObjectsSide; ++i) {
    const std::int32_t label = map[static_cast<std::size_t>(i)];
    result[static_cast<std::size_t>(i + right)] = label == join ? 1 : label;
  }
  return result;
}

/// The intersection over union of each true object (row) with each found one.
std::vector<std::vector<double>> overlaps(const EvaluateObjectsMap& labels,
                                          const EvaluateObjectsMap& truth) {
  const std::set<std::int32_t> found(labels.begin(), labels.end());
  const std::set<std::int32_t> real(truth.begin(), truth.end());
  std::vector<std::vector<double>> table;
  for (const std::int32_t t : real) {
    if (t == 0) continue;
    table.emplace_back();
    for (const std::int32_t f : found) {
      if (f == 0) continue;
      int both = 0;
      int either = 0;
      for (std::size_t i = 0; i < labels.size(); ++i) {
        both += labels[i] == f && truth[i] == t ? 1 : 0;
        either += labels[i] == f || truth[i] == t ? 1 : 0;
      }
      table.back().push_back(static_cast<double>(both) / either);
    }
  }
  return table;
}

/// The most pairs of at least `least`, of all ways to pair the rows from `row` on with columns that
/// are not taken.
int most_pairs(const std::vector<std::vector<double>>& table, double least, std::size_t row,
               std::set<std::size_t>& taken) {
  if (row == table.size()) return 0;
  int most = most_pairs(table, least, row + 1, taken);
  for (std::size_t column = 0; column < table[row].size(); ++column) {
    if (table[row][column] < least - 1e-9 || taken.count(column) > 0) continue;
    taken.insert(column);
    most = std::max(most, 1 + most_pairs(table, least, row + 1, taken));
    taken.erase(column);
  }
  return most;
}

TEST(ObjectScores, AreThoseOfTheBestOfAllAssignments) {
  std::mt19937 random(7);
  int several = 0;
  int parted = 0;
  for (int round = 0; round < 400; ++round) {
    const EvaluateObjectsMap truth = rectangles(random);
    const EvaluateObjectsMap labels =
        round % 2 == 0 ? disturbed(truth, random) : rectangles(random);
    const auto table = overlaps(labels, truth);
    const ObjectScores scores =
        evaluate_objects(labels, truth, kEvaluateObjectsSide, kEvaluateObjectsSide);
    for (std::size_t k = 0; k < scores.matches.size(); ++k) {
      std::set<std::size_t> taken;
      const double least = 0.5 + 0.05 * static_cast<double>(k);
      ASSERT_EQ(scores.matches[k].matched, most_pairs(table, least, 0, taken)) << round << " " << k;
    }
    std::int64_t splits = 0;
    std::vector<int> parts(table.empty() ? 0 : table.front().size(), 0);
    for (const std::vector<double>& row : table) {
      int own = 0;
      for (std::size_t column = 0; column < row.size(); ++column) {
        if (row[column] <= 0.1 + 1e-9) continue;
        ++own;
        ++parts[column];
      }
      splits += own > 1 ? 1 : 0;
    }
    const auto merges = std::count_if(parts.begin(), parts.end(), [](int n) { return n > 1; });
    EXPECT_EQ(scores.splits, splits);
    EXPECT_EQ(scores.merges, merges);
    several += scores.matches[4].matched > 1 ? 1 : 0;
    parted += splits + merges > 0 ? 1 : 0;
  }
  EXPECT_GT(several, 50);
  EXPECT_GT(parted, 50);
}

TEST(ObjectScores, OfSeveralImagesArePooledAndAveraged) {
  const std::vector<ObjectScores> images = {of_row({1, 1, 0, 2}, {1, 1, 0, 0}),
                                            of_row({1, 1, 1, 0}, {1, 1, 1, 1})};
  const ObjectSummary summary = summarise_objects(images);
  EXPECT_EQ(summary.pooled.matches[0].matched, 2);
  EXPECT_EQ(summary.pooled.matches[0].found, 3);
  EXPECT_EQ(summary.pooled.matches[0].truth, 2);
  EXPECT_DOUBLE_EQ(summary.pooled.matches[0].average_precision(), 2.0 / 3);
  EXPECT_DOUBLE_EQ(summary.mean_precision[0], (0.5 + 1) / 2);
  EXPECT_DOUBLE_EQ(summary.mean_precision[9], (0.5 + 0) / 2);
  EXPECT_DOUBLE_EQ(summary.mean_f1, (2.0 / 3 + 1) / 2);
  EXPECT_DOUBLE_EQ(mean_average_precision(images[1]), 0.6);
}

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
