#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "evaluate/boundary_matcher.hpp"

namespace diacut {

/// Looks into a matching.
struct MatcherCheck {
  using Index = BoundaryMatcher::Index;
  using Cost = BoundaryMatcher::Cost;
  static constexpr auto kTruth = BoundaryMatcher::kTruth;
  static constexpr auto kFound = BoundaryMatcher::kFound;
  static constexpr Index kNone = BoundaryMatcher::kNone;

  /// The sum of the distances of the matched pairs, in pixels.
  static double distance(const BoundaryMatcher& matcher) {
    Cost sum = 0;
    for (std::size_t at = 0; at < matcher.mate_[kTruth].size(); ++at) {
      const Index partner = matcher.mate_[kTruth][at];
      if (partner == kNone) continue;
      const auto found = std::find_if(
          matcher.neighbours_.begin(), matcher.neighbours_.end(),
          [&](const auto& each) { return each.step == partner - static_cast<Index>(at); });
      sum += found->cost;
    }
    return static_cast<double>(sum) / BoundaryMatcher::kUnitsPerPixel;
  }

  /// Whether the dual solution proves that no matching costs less.
  static bool is_optimal(const BoundaryMatcher& matcher) {
    for (const auto side : {kTruth, kFound}) {
      const auto opposite = BoundaryMatcher::other(side);
      for (std::size_t at = 0; at < matcher.present_[side].size(); ++at) {
        if (matcher.present_[side][at] == 0) continue;
        const Cost dual = matcher.dual_[side][at];
        const Index partner = matcher.mate_[side][at];
        if (dual > matcher.half_outlier_) return false;
        if (partner == kNone && dual != matcher.half_outlier_) return false;
        for (const auto& [step, cost] : matcher.neighbours_) {
          const Index next = static_cast<Index>(at) + step;
          if (matcher.present_[opposite][static_cast<std::size_t>(next)] == 0) continue;
          const Cost slack = cost - dual - matcher.dual_[opposite][static_cast<std::size_t>(next)];
          if (slack < 0 || (next == partner && slack != 0)) return false;
        }
      }
    }
    return true;
  }
};

namespace {

using Mask = std::vector<std::uint8_t>;

Mask random_mask(std::mt19937& random, std::size_t size, double share) {
  Mask mask(size);
  for (std::uint8_t& value : mask) {
    value = std::generate_canonical<double, 32>(random) < share ? 1 : 0;
  }
  return mask;
}

struct Best {
  double cost = 0;  ///< Distances less 100 times the greatest one a pair.
  int pairs = 0;
  double distance = 0;
};

/// The cheapest of all matchings, by trying each.
class BruteForce {
 public:
  BruteForce(const Mask& truth, const Mask& found, int width, double max_distance)
      : width_(width), max_distance_(max_distance), used_(found.size(), false) {
    for (std::size_t i = 0; i < truth.size(); ++i) {
      if (truth[i] != 0) truth_.push_back(static_cast<int>(i));
      if (found[i] != 0) found_.push_back(static_cast<int>(i));
    }
    search(0, {});
  }
  const Best& best() const { return best_; }

 private:
  void search(std::size_t next, const Best& sofar) {
    if (next == truth_.size()) {
      if (sofar.cost < best_.cost - 1e-9) best_ = sofar;
      return;
    }
    search(next + 1, sofar);
    for (std::size_t j = 0; j < found_.size(); ++j) {
      const double distance = std::hypot(truth_[next] % width_ - found_[j] % width_,
                                         truth_[next] / width_ - found_[j] / width_);
      if (used_[j] || distance > max_distance_) continue;
      used_[j] = true;
      search(next + 1, {sofar.cost + distance - 100 * max_distance_, sofar.pairs + 1,
                        sofar.distance + distance});
      used_[j] = false;
    }
  }

  int width_;
  double max_distance_;
  std::vector<int> truth_;
  std::vector<int> found_;
  std::vector<bool> used_;
  Best best_;
};

TEST(BoundaryMatcher, FindsWhatTryingEveryMatchingFinds) {
  std::mt19937 random(1);
  int with_choice = 0;
  for (int round = 0; round < 400; ++round) {
    const int width = 1 + static_cast<int>(random() % 6);
    const int height = 1 + static_cast<int>(random() % 5);
    const auto size = static_cast<std::size_t>(width * height);
    const double max_distance = std::vector{0.9, 1.0, 1.5, 2.3, 4.2}[random() % 5];
    Mask truth = random_mask(random, size, 0.4);
    // So many that all can be tried.
    for (std::size_t i = 0, seen = 0; i < size; ++i) seen += truth[i], truth[i] &= seen <= 6;
    Mask found = random_mask(random, size, 0.3);
    for (std::size_t i = 0, seen = 0; i < size; ++i) seen += found[i], found[i] &= seen <= 7;
    const Best best = BruteForce(truth, found, width, max_distance).best();
    BoundaryMatcher matcher(truth, width, height, max_distance);
    matcher.match(found);
    EXPECT_EQ(matcher.matched(), best.pairs) << round;
    EXPECT_NEAR(MatcherCheck::distance(matcher), best.distance, 7 * std::ldexp(1, -21)) << round;
    EXPECT_TRUE(MatcherCheck::is_optimal(matcher)) << round;
    if (best.pairs > 2 && best.distance > 0) ++with_choice;
  }
  EXPECT_GT(with_choice, 100);
}

TEST(BoundaryMatcher, ChangesEndWhereAFreshStartDoes) {
  std::mt19937 random(2);
  constexpr int kWidth = 23;
  constexpr int kHeight = 19;
  constexpr std::size_t kSize = kWidth * kHeight;
  for (const double truth_share : {0.05, 0.2, 0.5}) {
    const Mask truth = random_mask(random, kSize, truth_share);
    BoundaryMatcher changing(truth, kWidth, kHeight, 3.7);
    Mask found(kSize, 0);
    for (int step = 0; step < 40; ++step) {
      const double share = std::generate_canonical<double, 32>(random);
      // Now a few pixels other than before, now all.
      const Mask drawn = random_mask(random, kSize, share * share);
      const Mask changed = random_mask(random, kSize, step % 4 == 0 ? 1 : 0.05);
      for (std::size_t i = 0; i < kSize; ++i) {
        if (changed[i] != 0) found[i] = drawn[i];
      }
      changing.match(found);
      BoundaryMatcher fresh(truth, kWidth, kHeight, 3.7);
      fresh.match(found);
      ASSERT_EQ(changing.matched(), fresh.matched());
      ASSERT_EQ(MatcherCheck::distance(changing), MatcherCheck::distance(fresh));
      ASSERT_TRUE(MatcherCheck::is_optimal(changing));
      std::int64_t partners = 0;
      for (std::size_t i = 0; i < kSize; ++i) {
        ASSERT_TRUE(found[i] != 0 || !changing.is_matched(i));
        partners += changing.is_matched(i) ? 1 : 0;
      }
      ASSERT_EQ(partners, changing.matched());
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

TEST(BoundaryMatcher, TheGreatestDistanceIsWithinReachAndNothingBeyond) {
  Mask truth(7, 0);
  truth[0] = 1;
  for (std::size_t at = 0; at < 7; ++at) {
    Mask found(7, 0);
    found[at] = 1;
    BoundaryMatcher matcher(truth, 7, 1, 3.0);
    matcher.match(found);
    EXPECT_EQ(matcher.matched(), at <= 3 ? 1 : 0);
    EXPECT_EQ(matcher.is_matched(at), at <= 3);
  }
}

TEST(BoundaryMatcher, RowsDoNotGoOnInTheNext) {
  Mask truth(12, 0);
  Mask found(12, 0);
  truth[5] = 1;  // The end of the first row of 6,
  found[6] = 1;  // the start of the second.
  BoundaryMatcher matcher(truth, 6, 2, 2);
  matcher.match(found);
  EXPECT_EQ(matcher.matched(), 0);
}

TEST(BoundaryMatcher, NothingMatchesNothing) {
  BoundaryMatcher matcher(Mask(4, 0), 2, 2, 1);
  matcher.match(Mask(4, 1));
  EXPECT_EQ(matcher.matched(), 0);
  BoundaryMatcher other(Mask(4, 1), 2, 2, 1);
  other.match(Mask(4, 0));
  EXPECT_EQ(other.matched(), 0);
  EXPECT_TRUE(MatcherCheck::is_optimal(other));
}

TEST(BoundaryMatcher, EqualMapsMatchPixelByPixel) {
  std::mt19937 random(3);
  const Mask mask = random_mask(random, 40 * 30, 0.3);
  BoundaryMatcher matcher(mask, 40, 30, 4.3);
  matcher.match(mask);
  EXPECT_EQ(matcher.matched(), std::count(mask.begin(), mask.end(), 1));
  EXPECT_EQ(MatcherCheck::distance(matcher), 0);
}

}  // namespace
}  // namespace diacut
