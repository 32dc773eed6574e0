#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "evaluate/boundary_score.hpp"

namespace diacut {
namespace {

/// In a square of 40 pixels a match may be .42 pixels away: only the pixel itself.
constexpr int kSize = 40;

std::vector<std::uint8_t> column(int x) {
  std::vector<std::uint8_t> mask(kSize * kSize, 0);
  for (int y = 0; y < kSize; ++y) mask[static_cast<std::size_t>(y * kSize + x)] = 1;
  return mask;
}

GroundTruth truth_at(const std::vector<int>& columns) {
  GroundTruth truth{kSize, kSize, {}};
  for (const int x : columns) truth.annotations.push_back({{}, column(x)});
  return truth;
}

BoundaryCounts counts(std::int64_t truth_matched, std::int64_t truth, std::int64_t found_matched,
                      std::int64_t found) {
  return {truth_matched, truth, found_matched, found};
}

void expect_counts(const BoundaryCounts& a, const BoundaryCounts& b) {
  EXPECT_EQ(a.truth_matched, b.truth_matched);
  EXPECT_EQ(a.truth, b.truth);
  EXPECT_EQ(a.found_matched, b.found_matched);
  EXPECT_EQ(a.found, b.found);
}

TEST(BoundaryScore, CountsEachAnnotatorForRecallAndAnyForPrecision) {
  expect_counts(match_boundaries(column(10), truth_at({10})), counts(40, 40, 40, 40));
  expect_counts(match_boundaries(column(11), truth_at({10})), counts(0, 40, 0, 40));
  expect_counts(match_boundaries(column(10), truth_at({10, 20})), counts(40, 80, 40, 40));
  expect_counts(match_boundaries(column(10), truth_at({10, 10})), counts(80, 80, 40, 40));
}

TEST(BoundaryScore, MatchesWithinThreeQuartersOfAPercentOfTheDiagonal) {
  // 400 x 300: 3.75 pixels.
  const auto strip = [](int x) {
    std::vector<std::uint8_t> mask(400 * 300, 0);
    for (int y = 0; y < 300; ++y) mask[static_cast<std::size_t>(y * 400 + x)] = 1;
    return mask;
  };
  const GroundTruth truth{400, 300, {{{}, strip(100)}}};
  expect_counts(match_boundaries(strip(103), truth), counts(300, 300, 300, 300));
  expect_counts(match_boundaries(strip(104), truth), counts(0, 300, 0, 300));
}

TEST(BoundaryScore, KeepsWhatIsAtLeastTheThresholdAndThinsIt) {
  std::vector<double> strength(kSize * kSize, 0);
  for (std::size_t i = 0; i < strength.size(); ++i) {
    const std::size_t x = i % kSize;
    if (x == 10) strength[i] = 0.5;
    if (x >= 19 && x <= 21) strength[i] = 0.25;
  }
  const std::vector<double> thresholds = {0.25, 0.4, 0.5, 0.51};
  const std::vector<BoundaryCounts> curve =
      match_boundaries(strength, truth_at({10, 20}), thresholds);
  // The bar's ends are shorter when it is thinned, by up to its width.
  EXPECT_EQ(curve[0].truth, 80);
  EXPECT_NEAR(static_cast<double>(curve[0].truth_matched), 80, 3);
  EXPECT_NEAR(static_cast<double>(curve[0].found), 80, 3);
  EXPECT_EQ(curve[0].found_matched, curve[0].truth_matched);
  expect_counts(curve[1], counts(40, 80, 40, 40));
  expect_counts(curve[2], counts(40, 80, 40, 40));
  expect_counts(curve[3], counts(0, 80, 0, 0));
}

TEST(BoundaryScore, RecallPrecisionAndF) {
  const BoundaryCounts some = counts(30, 120, 60, 80);
  EXPECT_DOUBLE_EQ(some.recall(), 0.25);
  EXPECT_DOUBLE_EQ(some.precision(), 0.75);
  EXPECT_DOUBLE_EQ(some.f(), 2 * 0.25 * 0.75);
  EXPECT_EQ(counts(0, 0, 0, 0).f(), 0);
  EXPECT_EQ(counts(0, 0, 0, 9).recall(), 0);
  EXPECT_EQ(counts(0, 9, 0, 0).precision(), 0);
}

TEST(BoundaryScore, TheBestPointLiesBetweenThresholds) {
  // Recall 1 and precision 0 at one end, the other way round at the other: F is best halfway, and
  // of the 100 points 49/99 is the first of the two nearest.
  const std::vector<BoundaryCounts> curve = {counts(1, 1, 0, 1), counts(0, 1, 1, 1)};
  const BoundaryPoint best = best_point(curve, std::vector<double>{0.2, 0.4});
  EXPECT_NEAR(best.f, 2 * 49.0 * 50 / (99 * 99), 1e-12);
  EXPECT_NEAR(best.precision + best.recall, 1, 1e-12);
  EXPECT_NEAR(best.threshold, 0.3, 0.2 / 99);
}

TEST(BoundaryScore, SummariesPoolPixels) {
  const std::vector<double> thresholds = {0.25, 0.75};
  // One image is better at the low threshold, the other at the high one.
  const std::vector<std::vector<BoundaryCounts>> curves = {
      {counts(80, 100, 80, 100), counts(10, 100, 10, 10)},
      {counts(20, 40, 20, 400), counts(20, 40, 20, 40)}};
  const BoundarySummary summary = summarise_boundaries(curves, thresholds);
  expect_counts(summary.curve[0], counts(100, 140, 100, 500));
  expect_counts(summary.curve[1], counts(30, 140, 30, 50));
  EXPECT_DOUBLE_EQ(summary.ois.recall, 100.0 / 140);
  EXPECT_DOUBLE_EQ(summary.ois.precision, 100.0 / 140);
  EXPECT_GE(summary.ods.f, summary.curve[0].f());
  EXPECT_GE(summary.ods.f, summary.curve[1].f());
}

TEST(BoundaryScore, AveragePrecisionInterpolatesAndIsZeroBeyondTheCurve) {
  const std::vector<double> thresholds = {0.25, 0.75};
  const auto ap = [&](const BoundaryCounts& low, const BoundaryCounts& high) {
    return summarise_boundaries(std::vector<std::vector<BoundaryCounts>>{{low, high}}, thresholds)
        .ap;
  };
  // Recall .5 to 1, precision 1 to .5: 51 points whose mean is .75.
  EXPECT_NEAR(*ap(counts(4, 4, 4, 8), counts(2, 4, 4, 4)), 51 * 0.75 * 0.01, 1e-9);
  // A single recall is no curve.
  EXPECT_EQ(*ap(counts(2, 4, 2, 4), counts(2, 4, 2, 2)), 0);
  const std::vector<std::vector<BoundaryCounts>> one = {{counts(1, 2, 1, 2)}};
  EXPECT_FALSE(summarise_boundaries(one, std::vector<double>{0.0}).ap.has_value());
}

TEST(BoundaryScore, ThresholdsAreHundredths) {
  const std::vector<double> thresholds = spaced_thresholds(99);
  ASSERT_EQ(thresholds.size(), 99u);
  for (int i = 1; i <= 99; ++i) EXPECT_EQ(thresholds[static_cast<std::size_t>(i - 1)], i / 100.0);
  EXPECT_EQ(spaced_thresholds(1), std::vector<double>{0.5});
}

TEST(BoundaryScore, BoundariesOfLabelsLieLeftOfAndAboveTheChange) {
  // 1 1 2
  // 1 1 2
  // 3 3 3
  const std::vector<std::int32_t> labels = {1, 1, 2, 1, 1, 2, 3, 3, 3};
  EXPECT_EQ(boundaries_of(labels, 3, 3), (std::vector<std::uint8_t>{0, 1, 0, 1, 1, 1, 0, 0, 0}));
  // Only the pixel across the corner differs.
  EXPECT_EQ(boundaries_of(std::vector<std::int32_t>{1, 1, 1, 2}, 2, 2),
            (std::vector<std::uint8_t>{1, 1, 1, 0}));
  EXPECT_EQ(boundaries_of(std::vector<std::int32_t>{7}, 1, 1), std::vector<std::uint8_t>{0});
}

}  // namespace
}  // namespace diacut
