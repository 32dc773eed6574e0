#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <opencv2/imgproc.hpp>
#include <random>
#include <set>
#include <vector>

#include "evaluate/boundary_score.hpp"
#include "evaluate/region_score.hpp"

namespace diacut {
namespace {

using LabelValues = std::vector<std::int32_t>;

GroundTruth truth_of(int width, int height, const std::vector<LabelValues>& annotations) {
  GroundTruth truth{width, height, {}};
  for (const LabelValues& labels : annotations) truth.annotations.push_back({labels, {}});
  return truth;
}

/// A label for each pixel of a 4 x 4 image.
template <typename Label>
LabelValues four_by_four(Label label) {
  LabelValues labels;
  for (int i = 0; i < 16; ++i) labels.push_back(label(i % 4, i / 4));
  return labels;
}

const LabelValues kHalves = four_by_four([](int x, int) { return x / 2; });
const LabelValues kQuarters =
    four_by_four([](int x, int y) { return 10 * (x / 2) + 5 * (y / 2) - 3; });
const LabelValues kWhole(16, 4);

TEST(RegionScore, KnownByHand) {
  // Each pair of pixels: 120. Together in halves: 2 * 28, in quarters: 4 * 6, in one: all.
  const GroundTruth halves = truth_of(4, 4, {kHalves});
  const RegionCurve same = score_labels(kHalves, halves);
  EXPECT_EQ(same.area, 16);
  EXPECT_DOUBLE_EQ(same.scores[0].covered, 16);
  EXPECT_DOUBLE_EQ(same.scores[0].pri, 1);
  EXPECT_DOUBLE_EQ(same.scores[0].vi, 0);

  const RegionCurve whole = score_labels(kWhole, halves);
  EXPECT_DOUBLE_EQ(whole.scores[0].covered, 8);
  EXPECT_DOUBLE_EQ(whole.scores[0].pri, 56.0 / 120);
  EXPECT_DOUBLE_EQ(whole.scores[0].vi, 1);
  EXPECT_DOUBLE_EQ(whole.best_covered, 8);

  const RegionCurve quarters = score_labels(kQuarters, halves);
  EXPECT_DOUBLE_EQ(quarters.scores[0].covered, 8);
  EXPECT_DOUBLE_EQ(quarters.scores[0].pri, 1 - (56.0 - 24) / 120);
  EXPECT_DOUBLE_EQ(quarters.scores[0].vi, 1);
}

/// The definitions, pair by pair and pixel by pixel.
struct Plain {
  double covered = 0;
  double pri = 0;
  double vi = 0;
  std::vector<double> best;  ///< Of each region of each annotator.
};

Plain plain_scores(const LabelValues& ours, const GroundTruth& truth) {
  Plain plain;
  const auto n = static_cast<double>(ours.size());
  for (const Annotation& annotation : truth.annotations) {
    const LabelValues& theirs = annotation.labels;
    std::map<std::int32_t, double> own_size;
    std::map<std::int32_t, double> truth_size;
    std::map<std::pair<std::int32_t, std::int32_t>, double> both;
    for (std::size_t i = 0; i < ours.size(); ++i) {
      ++own_size[ours[i]];
      ++truth_size[theirs[i]];
      ++both[{theirs[i], ours[i]}];
    }
    for (const auto& [region, size] : truth_size) {
      double best = 0;
      for (const auto& [pair, shared] : both) {
        if (pair.first != region) continue;
        best = std::max(best, shared / (size + own_size[pair.second] - shared));
      }
      plain.covered += size * best;
      plain.best.push_back(size * best);
    }
    double agreeing = 0;
    for (std::size_t i = 0; i < ours.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if ((ours[i] == ours[j]) == (theirs[i] == theirs[j])) ++agreeing;
      }
    }
    plain.pri += n > 1 ? agreeing / (n * (n - 1) / 2) : 1;
    for (const auto& [pair, shared] : both) {
      plain.vi -=
          shared / n *
          (std::log2(shared / truth_size[pair.first]) + std::log2(shared / own_size[pair.second]));
    }
  }
  plain.pri /= static_cast<double>(truth.annotations.size());
  plain.vi /= static_cast<double>(truth.annotations.size());
  return plain;
}

/// The protocol to the letter: 8-connected components of what is at most t, sampled at the pixels.
LabelValues components(const std::vector<double>& strength, int width, int height, double t) {
  const cv::Mat map = cv::Mat(strength, true).reshape(1, 2 * height + 1);
  cv::Mat parts;
  cv::connectedComponents(map <= t, parts, 8);
  LabelValues labels;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) labels.push_back(parts.at<std::int32_t>(2 * y + 1, 2 * x + 1));
  }
  return labels;
}

TEST(RegionScore, AHierarchyIsScoredAsEachOfItsSegmentations) {
  std::mt19937 random(5);
  std::set<std::size_t> region_counts;
  for (const auto& [width, height] : {std::pair{1, 1}, {1, 5}, {7, 1}, {2, 2}, {9, 7}, {12, 11}}) {
    for (int round = 0; round < 6; ++round) {
      const std::vector<double> thresholds = spaced_thresholds(round == 0 ? 1 : 9);
      std::vector<double> strength;
      for (int i = 0; i < (2 * width + 1) * (2 * height + 1); ++i) {
        const bool is_pixel = i / (2 * width + 1) % 2 == 1 && i % (2 * width + 1) % 2 == 1;
        // Some equal to thresholds, most high enough that regions stay apart for a while.
        const double value = static_cast<double>(random() % 21) / 20;
        strength.push_back(is_pixel ? 0 : std::sqrt(value));
      }
      std::vector<LabelValues> annotations(1 + random() % 3);
      for (LabelValues& labels : annotations) {
        for (int i = 0; i < width * height; ++i) {
          labels.push_back(static_cast<std::int32_t>(random() % 4) - 1);
        }
      }
      const GroundTruth truth = truth_of(width, height, annotations);
      const RegionCurve curve = score_hierarchy(strength, truth, thresholds);
      ASSERT_EQ(curve.scores.size(), thresholds.size());
      std::vector<double> best;
      for (std::size_t t = 0; t < thresholds.size(); ++t) {
        const LabelValues labels = components(strength, width, height, thresholds[t]);
        const Plain plain = plain_scores(labels, truth);
        EXPECT_NEAR(curve.scores[t].covered, plain.covered, 1e-9);
        EXPECT_NEAR(curve.scores[t].pri, plain.pri, 1e-12);
        EXPECT_NEAR(curve.scores[t].vi, plain.vi, 1e-12);
        best.resize(plain.best.size(), 0);
        for (std::size_t i = 0; i < best.size(); ++i) best[i] = std::max(best[i], plain.best[i]);
        region_counts.insert(std::set(labels.begin(), labels.end()).size());
      }
      double sum = 0;
      for (const double value : best) sum += value;
      EXPECT_NEAR(curve.best_covered, sum, 1e-9);
    }
  }
  EXPECT_GT(region_counts.size(), 10u);  // Or the maps were too simple to tell anything.
}

TEST(RegionScore, PixelsAreNeverBoundary) {
  std::vector<double> strength(25, 0);
  strength[6] = 1;  // Pixel (0, 0) of 2 x 2.
  const std::vector<double> thresholds = {0.5};
  const RegionCurve curve = score_hierarchy(strength, truth_of(2, 2, {{1, 1, 1, 1}}), thresholds);
  EXPECT_EQ(curve.scores[0].covered, 4);
}

TEST(RegionScore, SummariesPoolAreasAndAverageImages) {
  const std::vector<double> thresholds = {0.25, 0.5};
  RegionCurve small{10, {{8, 0.9, 1.0}, {4, 0.5, 3.0}}, 9};
  RegionCurve large{90, {{30, 0.4, 2.0}, {60, 0.6, 1.5}}, 70};
  const RegionSummary summary = summarise_regions(std::vector{small, large}, thresholds);
  EXPECT_DOUBLE_EQ(summary.covering.ods, 64.0 / 100);
  EXPECT_DOUBLE_EQ(summary.covering.threshold, 0.5);
  EXPECT_DOUBLE_EQ(summary.covering.ois, 68.0 / 100);
  EXPECT_DOUBLE_EQ(summary.best_covering, 79.0 / 100);
  EXPECT_DOUBLE_EQ(summary.pri.ods, 0.65);
  EXPECT_DOUBLE_EQ(summary.pri.threshold, 0.25);
  EXPECT_DOUBLE_EQ(summary.pri.ois, 0.75);
  EXPECT_DOUBLE_EQ(summary.vi.ods, 1.5);
  EXPECT_DOUBLE_EQ(summary.vi.threshold, 0.25);
  EXPECT_DOUBLE_EQ(summary.vi.ois, 1.25);
}

}  // namespace
}  // namespace diacut
