#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <opencv2/imgproc.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "by_pixel.hpp"
#include "evaluate/boundary_score.hpp"
#include "evaluate/ground_truth.hpp"
#include "matchers.hpp"

namespace diacut {

/// Looks into a matching.
struct MatcherCheck {
  using Index = BoundaryMatcher::Index;
  using Cost = BoundaryMatcher::Cost;
  static constexpr auto kTruth = BoundaryMatcher::kTruth;
  static constexpr auto kFound = BoundaryMatcher::kFound;
  static constexpr Index kNone = BoundaryMatcher::kNone;

  /// The sum of the distances of the matched pairs, in pixels, where the matching is optimal: then
  /// the dual solution has their costs.
  static double distance(const BoundaryMatcher& matcher) {
    Cost sum = 0;
    for (std::size_t at = 0; at < matcher.mate_[kTruth].size(); ++at) {
      const Index partner = matcher.mate_[kTruth][at];
      if (partner == kNone) continue;
      sum += matcher.dual_[kTruth][at] + matcher.dual_[kFound][static_cast<std::size_t>(partner)];
    }
    return static_cast<double>(sum) / BoundaryMatcher::kUnitsPerPixel;
  }

  /// Whether pairs are of neighbours that have each other, and the dual solution proves that no
  /// matching costs less.
  static bool is_optimal(const BoundaryMatcher& matcher) {
    std::int64_t partners = 0;
    for (const auto side : {kTruth, kFound}) {
      const auto opposite = BoundaryMatcher::other(side);
      for (std::size_t at = 0; at < matcher.present_[side].size(); ++at) {
        const Cost dual = matcher.dual_[side][at];
        const Index partner = matcher.mate_[side][at];
        if (matcher.present_[side][at] == 0 && partner != kNone) return false;
        if (matcher.present_[side][at] == 0) continue;
        if (dual > matcher.half_outlier_) return false;
        if (partner == kNone && dual != matcher.half_outlier_) return false;
        bool is_paired = partner == kNone;
        for (const auto& [step, cost] : matcher.neighbours_) {
          const Index next = static_cast<Index>(at) + step;
          const auto place = static_cast<std::size_t>(next);
          if (matcher.present_[opposite][place] == 0) continue;
          const Cost slack = cost - dual - matcher.dual_[opposite][place];
          if (slack < 0) return false;
          if (next != partner) continue;
          if (slack != 0 || matcher.mate_[opposite][place] != static_cast<Index>(at)) return false;
          is_paired = true;
          ++partners;
        }
        if (!is_paired) return false;
      }
    }
    return partners == 2 * matcher.matched_;
  }
};

namespace {

using testing::by_pixel;
using ::testing::FieldsAre;
using Mask = std::vector<std::uint8_t>;

Mask random_mask(std::mt19937& random, std::size_t size, double share) {
  Mask mask(size);
  for (std::uint8_t& value : mask) {
    value = std::generate_canonical<double, 32>(random) < share ? 1 : 0;
  }
  return mask;
}

TEST(BoundaryMatcher, PairsTwoPixelsUpToTheGreatestDistance) {
  constexpr int kSide = 13;
  constexpr int kMiddle = kSide / 2;
  Mask middle(kSide * kSide, 0);
  middle[kMiddle * kSide + kMiddle] = 1;
  for (const double max_distance : {0.9, 1.0, 1.5, 2.3, 4.2}) {
    for (int i = 0; i < kSide * kSide; ++i) {
      Mask other(kSide * kSide, 0);
      other[static_cast<std::size_t>(i)] = 1;
      const double distance = std::hypot(i % kSide - kMiddle, i / kSide - kMiddle);
      const bool is_near = distance <= max_distance;
      for (const auto& [truth, found] : {std::pair(middle, other), std::pair(other, middle)}) {
        BoundaryMatcher matcher(truth, kSide, kSide, max_distance);
        matcher.match(found);
        ASSERT_TRUE(MatcherCheck::is_optimal(matcher));
        ASSERT_EQ(matcher.matched(), is_near ? 1 : 0);
        ASSERT_NEAR(MatcherCheck::distance(matcher), is_near ? distance : 0, std::ldexp(1, -21));
      }
    }
  }
}

TEST(BoundaryMatcher, NoMatchingCostsLessWhateverWasMatchedBefore) {
  std::mt19937 random(2);
  const auto drawn = [&](const std::vector<double>& values) {
    return values[random() % values.size()];
  };
  for (int round = 0; round < 400; ++round) {
    const bool large = round % 8 == 0;
    const int width = large ? 23 : 1 + static_cast<int>(random() % 6);
    const int height = large ? 19 : 1 + static_cast<int>(random() % 5);
    const auto size = static_cast<std::size_t>(width * height);
    BoundaryMatcher matcher(random_mask(random, size, drawn({0.05, 0.2, 0.5})), width, height,
                            drawn({0.9, 1.0, 1.5, 2.3, 3.7, 4.2}));
    Mask found(size, 0);
    for (int step = 0; step < 8; ++step) {
      // Now a few pixels other than before, now all.
      const Mask other = random_mask(random, size, drawn({0.01, 0.1, 0.3, 0.8}));
      const Mask changed = random_mask(random, size, step % 4 == 0 ? 1 : 0.05);
      std::int64_t partners = 0;
      for (std::size_t i = 0; i < size; ++i) found[i] = changed[i] != 0 ? other[i] : found[i];
      matcher.match(found);
      ASSERT_TRUE(MatcherCheck::is_optimal(matcher)) << round;
      for (std::size_t i = 0; i < size; ++i) {
        ASSERT_TRUE(found[i] != 0 || !matcher.is_matched(i));
        partners += matcher.is_matched(i) ? 1 : 0;
      }
      ASSERT_EQ(partners, matcher.matched());
    }
  }
}

TEST(BoundaryMatcher, AnOutlierCostsAHundredTimesTheGreatestDistance) {
  // Truth at 0 .. n-1, found at 1 .. n: all n pairs are one pixel apart, or all but one are none.
  // The one more pair is worth 150 pixels.
  for (const int n : {2, 10, 149, 151, 200}) {
    Mask truth(static_cast<std::size_t>(n + 1), 1);
    Mask found(static_cast<std::size_t>(n + 1), 1);
    truth.back() = 0;
    found.front() = 0;
    BoundaryMatcher matcher(truth, n + 1, 1, 1.5);
    matcher.match(found);
    EXPECT_EQ(matcher.matched(), n < 150 ? n : n - 1);
    EXPECT_EQ(MatcherCheck::distance(matcher), n < 150 ? n : 0.0);
    EXPECT_TRUE(MatcherCheck::is_optimal(matcher));
  }
}

/// Pieces of the pixels that are set, or not, 8-connected or 4-connected; outside the image is 0.
int pieces(const Mask& mask, int width, bool set, bool diagonally) {
  cv::Mat padded;
  cv::Mat labels;
  cv::copyMakeBorder(cv::Mat(mask, true).reshape(1, static_cast<int>(mask.size()) / width), padded,
                     1, 1, 1, 1, cv::BORDER_CONSTANT, 0);
  return cv::connectedComponents((padded != 0) == (set ? 255 : 0), labels, diagonally ? 8 : 4) - 1;
}

TEST(Thinning, DrawsWhatAnotherImplementationDraws) {
  // The result is that of scikit-image's `thin`: what is drawn as 'o' is lost, '#' stays.
  const std::string drawn =
      "..............\n"
      ".oooo....oo...\n"
      ".oooo....#o...\n"
      ".o#oo.........\n"
      ".oooo..#......\n"
      ".......#o.....\n"
      "..o##o.o#o....\n"
      "..#..#.o#oo...\n"
      "..#..#.o#oo...\n"
      "..o##o..oo....\n"
      "...........oo.\n"
      ".######...##o.\n"
      "..............\n";
  Mask before;
  Mask after;
  for (const char c : drawn) {
    if (c == '\n') continue;
    before.push_back(c != '.' ? 1 : 0);
    after.push_back(c == '#' ? 1 : 0);
  }
  EXPECT_EQ(thin(before, 14, 13), after);
}

TEST(Thinning, KeepsPiecesAndHolesAndLeavesNothingToThin) {
  std::mt19937 random(4);
  for (int round = 0; round < 60; ++round) {
    // Single pixels and lines first, whole or not.
    const int width = round < 10 || round >= 20 ? 1 + static_cast<int>(random() % 30) : 1;
    const int height = round < 10 ? 1 : 1 + static_cast<int>(random() % 30);
    const std::uint64_t share = round % 5 == 0 ? 100 : 20 + random() % 75;
    Mask mask(static_cast<std::size_t>(width * height));
    for (std::uint8_t& value : mask) value = random() % 100 < share ? 255 : 0;
    const Mask lines = thin(mask, width, height);
    ASSERT_EQ(lines.size(), mask.size());
    for (std::size_t i = 0; i < mask.size(); ++i) {
      ASSERT_LE(lines[i], 1);
      ASSERT_TRUE(lines[i] == 0 || mask[i] != 0);
      ASSERT_TRUE(lines[i] != 0 || mask[i] == 0 || (width > 1 && height > 1));
    }
    EXPECT_EQ(pieces(lines, width, true, true), pieces(mask, width, true, true));
    EXPECT_EQ(pieces(lines, width, false, false), pieces(mask, width, false, false));
    EXPECT_EQ(thin(lines, width, height), lines);
  }
}

/// In a square of 40 pixels a match may be .42 pixels away: only the pixel itself.
constexpr int kSize = 40;

Mask column(int x, int width = kSize, int height = kSize) {
  return by_pixel(width, height, [&](int at, int) -> std::uint8_t { return at == x ? 1 : 0; });
}

GroundTruth truth_at(const std::vector<int>& columns) {
  GroundTruth truth{kSize, kSize, {}};
  for (const int x : columns) truth.annotations.push_back({{}, column(x)});
  return truth;
}

TEST(BoundaryScore, CountsEachAnnotatorForRecallAndAnyForPrecision) {
  EXPECT_THAT(match_boundaries(column(10), truth_at({10})), FieldsAre(40, 40, 40, 40));
  EXPECT_THAT(match_boundaries(column(11), truth_at({10})), FieldsAre(0, 40, 0, 40));
  EXPECT_THAT(match_boundaries(column(10), truth_at({10, 20})), FieldsAre(40, 80, 40, 40));
  EXPECT_THAT(match_boundaries(column(10), truth_at({10, 10})), FieldsAre(80, 80, 40, 40));
}

TEST(BoundaryScore, MatchesWithinThreeQuartersOfAPercentOfTheDiagonal) {
  // 400 x 300: 3.75 pixels.
  const auto strip = [](int x) { return column(x, 400, 300); };
  const GroundTruth truth{400, 300, {{{}, strip(100)}}};
  EXPECT_THAT(match_boundaries(strip(103), truth), FieldsAre(300, 300, 300, 300));
  EXPECT_THAT(match_boundaries(strip(104), truth), FieldsAre(0, 300, 0, 300));
}

TEST(BoundaryScore, KeepsWhatIsAtLeastTheThresholdAndThinsIt) {
  const std::vector<double> strength = by_pixel(kSize, kSize, [](int x, int) {
    return x == 10 ? 0.5 : x >= 19 && x <= 21 ? 0.25 : 0.0;
  });
  const std::vector<double> thresholds = {0.25, 0.4, 0.5, 0.51};
  const std::vector<BoundaryCounts> curve =
      match_boundaries(strength, truth_at({10, 20}), thresholds);
  // The bar's ends are shorter when it is thinned, by up to its width.
  EXPECT_EQ(curve[0].truth, 80);
  EXPECT_NEAR(static_cast<double>(curve[0].truth_matched), 80, 3);
  EXPECT_NEAR(static_cast<double>(curve[0].found), 80, 3);
  EXPECT_EQ(curve[0].found_matched, curve[0].truth_matched);
  EXPECT_THAT(curve[1], FieldsAre(40, 80, 40, 40));
  EXPECT_THAT(curve[2], FieldsAre(40, 80, 40, 40));
  EXPECT_THAT(curve[3], FieldsAre(0, 80, 0, 0));
}

TEST(BoundaryScore, RecallPrecisionAndF) {
  const BoundaryCounts some{30, 120, 60, 80};
  EXPECT_DOUBLE_EQ(some.recall(), 0.25);
  EXPECT_DOUBLE_EQ(some.precision(), 0.75);
  EXPECT_DOUBLE_EQ(some.f(), 2 * 0.25 * 0.75);
  EXPECT_EQ((BoundaryCounts{0, 0, 0, 0}.f()), 0);
  EXPECT_EQ((BoundaryCounts{0, 0, 0, 9}.recall()), 0);
  EXPECT_EQ((BoundaryCounts{0, 9, 0, 0}.precision()), 0);
}

TEST(BoundaryScore, TheBestPointLiesBetweenThresholds) {
  // Recall 1 and precision 0 at one end, the other way round at the other: F is best halfway, and
  // of the 100 points 49/99 is the first of the two nearest.
  const std::vector<BoundaryCounts> curve = {{1, 1, 0, 1}, {0, 1, 1, 1}};
  const BoundaryPoint best = best_point(curve, std::vector<double>{0.2, 0.4});
  EXPECT_NEAR(best.f, 2 * 49.0 * 50 / (99 * 99), 1e-12);
  EXPECT_NEAR(best.precision + best.recall, 1, 1e-12);
  EXPECT_NEAR(best.threshold, 0.3, 0.2 / 99);
}

TEST(BoundaryScore, SummariesPoolPixels) {
  const std::vector<double> thresholds = {0.25, 0.75};
  // One image is better at the low threshold, the other at the high one.
  const std::vector<std::vector<BoundaryCounts>> curves = {{{80, 100, 80, 100}, {10, 100, 10, 10}},
                                                           {{20, 40, 20, 400}, {20, 40, 20, 40}}};
  const BoundarySummary summary = summarise_boundaries(curves, thresholds);
  EXPECT_THAT(summary.curve[0], FieldsAre(100, 140, 100, 500));
  EXPECT_THAT(summary.curve[1], FieldsAre(30, 140, 30, 50));
  EXPECT_DOUBLE_EQ(summary.ois.recall, 100.0 / 140);
  EXPECT_DOUBLE_EQ(summary.ois.precision, 100.0 / 140);
  EXPECT_GE(summary.ods.f, summary.curve[0].f());
  EXPECT_GE(summary.ods.f, summary.curve[1].f());
}

TEST(BoundaryScore, AveragePrecisionInterpolatesAndIsZeroBeyondTheCurve) {
  const auto ap = [](const std::vector<BoundaryCounts>& curve) {
    return summarise_boundaries({&curve, 1}, spaced_thresholds(static_cast<int>(curve.size()))).ap;
  };
  // Recall .5 to 1, precision 1 to .5: 51 points whose mean is .75.
  EXPECT_NEAR(*ap({{4, 4, 4, 8}, {2, 4, 4, 4}}), 51 * 0.75 * 0.01, 1e-9);
  // A single recall is no curve.
  EXPECT_EQ(*ap({{2, 4, 2, 4}, {2, 4, 2, 2}}), 0);
  EXPECT_FALSE(ap({{1, 2, 1, 2}}).has_value());
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
