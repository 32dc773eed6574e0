#include "evaluate/boundary_matcher.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace diacut {

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
