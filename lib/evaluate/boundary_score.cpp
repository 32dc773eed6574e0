#include "evaluate/boundary_score.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>

#include "evaluate/boundary_matcher.hpp"
#include "evaluate/ground_truth.hpp"

namespace diacut {

namespace {

constexpr int kPointsBetween = 100;
constexpr int kRecallSteps = 100;

double share(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

double harmonic_mean(double recall, double precision) {
  const double sum = recall + precision;
  return sum > 0 ? 2 * recall * precision / sum : 0.0;
}

std::vector<BoundaryMatcher> matchers(const GroundTruth& truth) {
  const double distance = kMatchShare * std::hypot(truth.width, truth.height);
  std::vector<BoundaryMatcher> result;
  for (const Annotation& annotation : truth.annotations) {
    result.emplace_back(annotation.boundaries, truth.width, truth.height, distance);
  }
  return result;
}

BoundaryCounts count(std::span<const std::uint8_t> found, const GroundTruth& truth,
                     std::vector<BoundaryMatcher>& matchers) {
  BoundaryCounts counts;
  for (std::size_t i = 0; i < matchers.size(); ++i) {
    const std::vector<std::uint8_t>& there = truth.annotations[i].boundaries;
    matchers[i].match(found);
    counts.truth += std::count_if(there.begin(), there.end(), [](auto v) { return v != 0; });
    counts.truth_matched += matchers[i].matched();
  }
  for (std::size_t pixel = 0; pixel < found.size(); ++pixel) {
    if (found[pixel] == 0) continue;
    ++counts.found;
    const bool matched = std::any_of(matchers.begin(), matchers.end(),
                                     [&](const auto& m) { return m.is_matched(pixel); });
    if (matched) ++counts.found_matched;
  }
  return counts;
}

/// The mean of the precision, interpolated at recalls 0, .01, ..., 1; 0 beyond the ends of the
/// curve.
double average_precision(std::span<const BoundaryCounts> curve) {
  // Of points with equal recall, the one with the highest threshold counts.
  std::map<double, double> precision_at;
  for (const BoundaryCounts& counts : curve) precision_at[counts.recall()] = counts.precision();
  if (precision_at.size() < 2) return 0;
  double sum = 0;
  for (int step = 0; step <= kRecallSteps; ++step) {
    const double recall = static_cast<double>(step) / kRecallSteps;
    const auto above = precision_at.lower_bound(recall);
    if (above == precision_at.end()) continue;
    if (above->first == recall) {
      sum += above->second;
    } else if (above != precision_at.begin()) {
      const auto below = std::prev(above);
      const double part = (recall - below->first) / (above->first - below->first);
      sum += below->second + part * (above->second - below->second);
    }
  }
  return sum / kRecallSteps;
}

}  // namespace

std::vector<double> spaced_thresholds(int count) {
  std::vector<double> thresholds;
  for (int i = 1; i <= count; ++i) thresholds.push_back(static_cast<double>(i) / (count + 1));
  return thresholds;
}

double BoundaryCounts::recall() const { return share(truth_matched, truth); }
double BoundaryCounts::precision() const { return share(found_matched, found); }
double BoundaryCounts::f() const { return harmonic_mean(recall(), precision()); }

BoundaryCounts& BoundaryCounts::operator+=(const BoundaryCounts& other) {
  truth_matched += other.truth_matched;
  truth += other.truth;
  found_matched += other.found_matched;
  found += other.found;
  return *this;
}

std::vector<BoundaryCounts> match_boundaries(std::span<const double> strength,
                                             const GroundTruth& truth,
                                             std::span<const double> thresholds) {
  std::vector<BoundaryMatcher> annotators = matchers(truth);
  std::vector<BoundaryCounts> curve(thresholds.size());
  std::vector<std::uint8_t> before;
  std::vector<std::uint8_t> mask(strength.size());
  // From the highest threshold down the set of pixels grows, and the matchings grow with it.
  for (std::size_t t = thresholds.size(); t-- > 0;) {
    for (std::size_t i = 0; i < mask.size(); ++i) {
      mask[i] = strength[i] >= thresholds[t] ? 1 : 0;
    }
    if (mask == before) {
      curve[t] = curve[t + 1];
      continue;
    }
    curve[t] = count(thin(mask, truth.width, truth.height), truth, annotators);
    before = mask;
  }
  return curve;
}

BoundaryCounts match_boundaries(std::span<const std::uint8_t> boundaries,
                                const GroundTruth& truth) {
  std::vector<BoundaryMatcher> annotators = matchers(truth);
  return count(thin(boundaries, truth.width, truth.height), truth, annotators);
}

BoundaryPoint best_point(std::span<const BoundaryCounts> curve,
                         std::span<const double> thresholds) {
  BoundaryPoint best{thresholds[0], curve[0].recall(), curve[0].precision(), curve[0].f()};
  for (std::size_t i = 1; i < curve.size(); ++i) {
    for (int step = 0; step < kPointsBetween; ++step) {
      const double part = static_cast<double>(step) / (kPointsBetween - 1);
      const auto between = [part](double a, double b) { return (1 - part) * a + part * b; };
      BoundaryPoint point;
      point.threshold = between(thresholds[i - 1], thresholds[i]);
      point.recall = between(curve[i - 1].recall(), curve[i].recall());
      point.precision = between(curve[i - 1].precision(), curve[i].precision());
      point.f = harmonic_mean(point.recall, point.precision);
      if (point.f > best.f) best = point;
    }
  }
  return best;
}

BoundarySummary summarise_boundaries(std::span<const std::vector<BoundaryCounts>> curves,
                                     std::span<const double> thresholds) {
  BoundarySummary summary;
  summary.curve.resize(thresholds.size());
  BoundaryCounts best;
  for (const std::vector<BoundaryCounts>& curve : curves) {
    for (std::size_t t = 0; t < curve.size(); ++t) summary.curve[t] += curve[t];
    best += *std::max_element(
        curve.begin(), curve.end(),
        [](const BoundaryCounts& a, const BoundaryCounts& b) { return a.f() < b.f(); });
  }
  summary.ods = best_point(summary.curve, thresholds);
  summary.ois = {0, best.recall(), best.precision(), best.f()};
  if (thresholds.size() > 1) summary.ap = average_precision(summary.curve);
  return summary;
}

}  // namespace diacut
