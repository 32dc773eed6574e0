// Scores of objects: small cases by hand, and many drawn ones against all assignments.
//
// Scores of label images in memory: those that diacut-evaluate computes of the same labels in
// files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <opencv2/core.hpp>
#include <random>
#include <tuple>
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

TEST(ObjectMatches, OfFewAndOfNothing) {
  struct Case {
    ObjectMatches matches;  ///< An overlap; how many match, are found, are true.
    double precision, recall, f1, average_precision;
  };
  for (const auto& [matches, precision, recall, f1, average_precision] :
       {Case{{0.5, 1, 2, 1}, 0.5, 1, 2.0 / 3, 0.5},  // One of two halves.
        {{0.5, 0, 0, 0}, 1, 1, 1, 1},
        {{0.5, 0, 0, 1}, 1, 0, 0, 0},
        {{0.5, 0, 1, 0}, 0, 1, 0, 0}}) {
    EXPECT_DOUBLE_EQ(matches.precision(), precision);
    EXPECT_DOUBLE_EQ(matches.recall(), recall);
    EXPECT_DOUBLE_EQ(matches.f1(), f1);
    EXPECT_DOUBLE_EQ(matches.average_precision(), average_precision);
  }
}

constexpr int kEvaluateObjectsSide = 12;
constexpr int kMostObjects = 5;

/// Some rectangles, later ones above earlier ones.
EvaluateObjectsMap rectangles(std::mt19937& random) {
  const auto below = [&](int end) {
    return static_cast<int>(random() % static_cast<unsigned>(end));
  };
  cv::Mat1i map(kEvaluateObjectsSide, kEvaluateObjectsSide, 0);
  const int count = below(kMostObjects + 1);
  for (int label = 1; label <= count; ++label) {
    const cv::Point corner(below(kEvaluateObjectsSide), below(kEvaluateObjectsSide));
    const cv::Size size(2 + below(6), 2 + below(6));
    map(cv::Rect(corner, size) & cv::Rect({}, map.size())) = label;
  }
  return {map.begin(), map.end()};
}

/// A map whose objects differ from those of another by few pixels: moved by up to one pixel, or
/// joined.
EvaluateObjectsMap disturbed(const EvaluateObjectsMap& map, std::mt19937& random) {
  EvaluateObjectsMap result(map.size(), 0);
  const auto right = static_cast<std::ptrdiff_t>(random() % 2);
  const int join = static_cast<int>(random() % 4);
  std::replace_copy(map.begin(), map.end() - right, result.begin() + right, join, 1);
  return result;
}

/// The intersection over union of each true object (row) with each found one; 0 of what is not
/// there.
cv::Mat1d overlaps(const EvaluateObjectsMap& labels, const EvaluateObjectsMap& truth) {
  cv::Mat1d table(kMostObjects, kMostObjects);
  const auto mask = [](const EvaluateObjectsMap& map, int label) -> cv::Mat {
    return cv::Mat(map, true) == label;
  };
  for (int t = 0; t < kMostObjects; ++t) {
    for (int f = 0; f < kMostObjects; ++f) {
      const cv::Mat real = mask(truth, t + 1);
      const cv::Mat found = mask(labels, f + 1);
      table(t, f) =
          cv::countNonZero(real & found) / std::max(1.0 * cv::countNonZero(real | found), 1.0);
    }
  }
  return table;
}

/// The most pairs that overlap by at least `least`, of all ways to pair rows with columns.
int most_pairs(const cv::Mat1d& table, double least) {
  std::array<int, kMostObjects> column = {0, 1, 2, 3, 4};
  int most = 0;
  do {
    int pairs = 0;
    for (int row = 0; row < kMostObjects; ++row) {
      pairs += table(row, column[static_cast<std::size_t>(row)]) >= least - 1e-9 ? 1 : 0;
    }
    most = std::max(most, pairs);
  } while (std::next_permutation(column.begin(), column.end()));
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
    const cv::Mat1d table = overlaps(labels, truth);
    const ObjectScores scores =
        evaluate_objects(labels, truth, kEvaluateObjectsSide, kEvaluateObjectsSide);
    for (std::size_t k = 0; k < scores.matches.size(); ++k) {
      const double least = 0.5 + 0.05 * static_cast<double>(k);
      ASSERT_EQ(scores.matches[k].matched, most_pairs(table, least)) << round << " " << k;
    }
    std::int64_t splits = 0;
    std::int64_t merges = 0;
    const cv::Mat parts = table > 0.1 + 1e-9;
    for (int k = 0; k < kMostObjects; ++k) {
      splits += cv::countNonZero(parts.row(k)) > 1 ? 1 : 0;
      merges += cv::countNonZero(parts.col(k)) > 1 ? 1 : 0;
    }
    EXPECT_EQ(scores.splits, splits);
    EXPECT_EQ(scores.merges, merges);
    several += scores.matches[4].matched > 1 ? 1 : 0;
    parted += splits + merges > 0 ? 1 : 0;
  }
  EXPECT_GT(several, 50);
  EXPECT_GT(parted, 50);
}

TEST(ObjectScores, OfSeveralImagesHaveAMeanF1) {
  const std::vector<ObjectScores> images = {of_row({1, 1, 0, 2}, {1, 1, 0, 0}),
                                            of_row({1, 1, 1, 0}, {1, 1, 1, 1})};
  EXPECT_DOUBLE_EQ(summarise_objects(images).mean_f1, (2.0 / 3 + 1) / 2);
}

constexpr int kSide = 8;
using Map = std::vector<std::int32_t>;

/// Labels 1 left of a column and 2 from it on.
Map halves(int column) {
  Map labels;
  for (int i = 0; i < kSide * kSide; ++i) labels.push_back(i % kSide < column ? 1 : 2);
  return labels;
}

TEST(LabelScores, AreMeansOverPeopleWhateverTheNumbers) {
  Map renamed = halves(4);
  for (std::int32_t& label : renamed) label = 7 - 5 * label;
  const LabelScores same = evaluate_labels(halves(4), {renamed}, kSide, kSide);
  for (const double score : {same.precision, same.recall, same.f, same.covering, same.pri}) {
    EXPECT_DOUBLE_EQ(score, 1);
  }
  EXPECT_NEAR(same.vi, 0, 1e-12);
  const LabelScores both = evaluate_labels(halves(4), {halves(4), Map(64, 1)}, kSide, kSide);
  EXPECT_NEAR(both.vi, 0.5, 1e-12);
  EXPECT_NEAR(both.pri, (1 + (1 - 1024.0 / 2016)) / 2, 1e-12);
  EXPECT_NEAR(both.covering, (64 + 32) / 128.0, 1e-12);
}

TEST(LabelScores, NeedTruthOfTheImagesSize) {
  EXPECT_THROW(evaluate_labels(halves(4), {}, kSide, kSide), InputError);
  for (const auto& [labels, truth, height] :
       {std::tuple(64, 63, 8), {63, 64, 8}, {64, 64, 9}, {0, 0, 0}}) {
    const Map found(static_cast<std::size_t>(labels), 1);
    const Map wanted(static_cast<std::size_t>(truth), 1);
    EXPECT_THROW(evaluate_labels(found, {wanted}, kSide, height), InputError);
    EXPECT_THROW(evaluate_objects(found, wanted, kSide, height), InputError);
  }
}

}  // namespace
}  // namespace diacut
