#include "evaluate/boundary_score.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

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

namespace {

constexpr double kOutlierDistances = 100;

}  // namespace

BoundaryMatcher::BoundaryMatcher(std::span<const std::uint8_t> truth, int width, int height,
                                 double max_distance)
    : width_(static_cast<std::size_t>(width)),
      height_(static_cast<std::size_t>(height)),
      reach_(static_cast<std::size_t>(std::floor(max_distance))),
      stride_(width_ + 2 * reach_),
      half_outlier_(std::llround(kOutlierDistances * max_distance * kUnitsPerPixel / 2)) {
  const int reach = static_cast<int>(reach_);
  for (int dy = -reach; dy <= reach; ++dy) {
    for (int dx = -reach; dx <= reach; ++dx) {
      const double distance = std::hypot(dx, dy);
      if (distance > max_distance) continue;
      neighbours_.push_back({static_cast<Index>(dy * static_cast<int>(stride_) + dx),
                             std::llround(distance * kUnitsPerPixel)});
    }
  }
  std::stable_sort(neighbours_.begin(), neighbours_.end(),
                   [](const Neighbour& a, const Neighbour& b) { return a.cost < b.cost; });
  const std::size_t size = stride_ * (height_ + 2 * reach_);
  for (const Side side : {kTruth, kFound}) {
    present_[side].assign(size, 0);
    mate_[side].assign(size, kNone);
    dual_[side].assign(size, 0);
  }
  seen_.assign(size, 0);
  cost_to_.assign(size, 0);
  from_.assign(size, kNone);
  for (std::size_t pixel = 0; pixel < width_ * height_; ++pixel) {
    if (truth[pixel] != 0) insert(kTruth, static_cast<Index>(framed(pixel)));
  }
}

void BoundaryMatcher::match(std::span<const std::uint8_t> found) {
  // A pixel that is removed leaves a partner behind, which waits to be inserted again together with
  // the new pixels. All removals come first, so that inserted pixels compete with remaining ones
  // only.
  std::vector<std::pair<Index, Side>> waiting;
  for (std::size_t pixel = 0; pixel < width_ * height_; ++pixel) {
    const auto at = static_cast<Index>(framed(pixel));
    const bool is = present_[kFound][at] != 0;
    const bool will_be = found[pixel] != 0;
    if (is == will_be) continue;
    if (will_be) {
      waiting.emplace_back(at, kFound);
      continue;
    }
    present_[kFound][at] = 0;
    const Index partner = std::exchange(mate_[kFound][at], kNone);
    if (partner == kNone) continue;
    --matched_;
    mate_[kTruth][partner] = kNone;
    present_[kTruth][partner] = 0;
    waiting.emplace_back(partner, kTruth);
  }
  std::sort(waiting.begin(), waiting.end());
  for (const auto& [node, side] : waiting) insert(side, node);
}

void BoundaryMatcher::insert(Side side, Index node) {
  const Side opposite = other(side);
  std::vector<Cost>& ours = dual_[side];
  std::vector<Cost>& theirs = dual_[opposite];
  const std::vector<std::uint8_t>& there = present_[opposite];
  const std::vector<Index>& partner = mate_[opposite];
  present_[side][node] = 1;
  ours[node] = half_outlier_;
  for (const auto& [step, cost] : neighbours_) {
    if (there[node + step] != 0) ours[node] = std::min(ours[node], cost - theirs[node + step]);
  }

  ++search_;
  queue_.assign(1, {0, node});
  settled_.clear();
  const auto later = [](const Visit& a, const Visit& b) {
    return a.cost != b.cost ? a.cost > b.cost : a.node > b.node;
  };
  Cost least = half_outlier_ - ours[node];  // The cost of leaving the new pixel unmatched.
  Index end = node;
  bool end_is_free = false;
  while (!queue_.empty()) {
    const Visit visit = queue_.front();
    if (visit.cost >= least) break;
    std::pop_heap(queue_.begin(), queue_.end(), later);
    queue_.pop_back();
    const Index own_partner = mate_[side][visit.node];
    if (own_partner != kNone && cost_to_[own_partner] < visit.cost) continue;
    settled_.push_back(visit);
    const Cost base = visit.cost - ours[visit.node];
    if (base + half_outlier_ < least) {
      least = base + half_outlier_;
      end = visit.node;
      end_is_free = false;
    }
    for (const auto& [step, cost] : neighbours_) {
      const Index next = visit.node + step;
      if (there[next] == 0 || next == own_partner) continue;
      const Cost total = base + cost - theirs[next];
      if (total >= least || (seen_[next] == search_ && cost_to_[next] <= total)) continue;
      seen_[next] = search_;
      cost_to_[next] = total;
      from_[next] = visit.node;
      if (partner[next] == kNone) {
        least = total;
        end = next;
        end_is_free = true;
      } else {
        queue_.push_back({total, partner[next]});
        std::push_heap(queue_.begin(), queue_.end(), later);
      }
    }
  }
  for (const auto& [cost, settled] : settled_) {
    ours[settled] += least - cost;
    if (settled != node) theirs[mate_[side][settled]] -= least - cost;
  }
  reach_end(side, node, end, end_is_free);
}

/// Augments the matching along the path in from_ from `start` to `end`: matched edges on it become
/// unmatched and unmatched edges matched.
void BoundaryMatcher::reach_end(Side side, Index start, Index end, bool end_is_free) {
  const Side opposite = other(side);
  Index given = kNone;  ///< The pixel of the opposite side that gets a new partner next.
  if (end_is_free) {
    given = end;
    ++matched_;
  } else {
    given = std::exchange(mate_[side][end], kNone);
  }
  while (given != kNone) {
    const Index taker = from_[given];
    mate_[opposite][given] = taker;
    given = std::exchange(mate_[side][taker], given);
    if (taker == start) break;
  }
}

}  // namespace diacut
