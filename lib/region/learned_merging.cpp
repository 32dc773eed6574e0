#include "region/learned_merging.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <queue>
#include <utility>

#include "core/parallel.hpp"
#include "region/pair_graph.hpp"

namespace diacut {

namespace {

/// Fewer pairs are not worth another thread.
constexpr std::size_t kLeastPairs = 256;

class Merger {
 public:
  Merger(RegionGraph graph, std::int32_t next_node, const MergingModel& model)
      : regions_(std::move(graph.regions)),
        nodes_(std::move(graph.nodes)),
        pixels_(graph.pixels),
        model_(model),
        pairs_(std::move(graph.pairs), regions_.size()),
        next_node_(next_node) {
    for (const RegionSums& region : regions_) scored_area_.push_back(region.area);
    std::vector<Entry> entries(pairs_.size());
    parallel_ranges(entries.size(), kLeastPairs, [&](std::size_t begin, std::size_t end) {
      for (std::size_t k = begin; k < end; ++k) entries[k] = scored(static_cast<Index>(k));
    });
    queue_ = std::priority_queue<Entry>({}, std::move(entries));
  }

  void run(std::vector<Merge>& merges) {
    double height = kStartHeight;
    while (!queue_.empty()) {
      const Entry least = queue_.top();
      queue_.pop();
      if (least.version != pairs_.version(least.pair)) continue;
      height = std::max(height, 1.0 / (1.0 + std::exp(-least.logit)));
      const PairOfRegions& pair = pairs_[least.pair];
      const auto [first, second] = std::minmax(nodes_[pair.first], nodes_[pair.second]);
      merges.push_back({first, second, static_cast<float>(height)});
      join(least.pair);
    }
  }

 private:
  using Index = std::uint32_t;

  struct Entry {
    double logit = 0;
    Index pair = 0;
    std::uint32_t version = 0;

    /// For a queue whose top is the least.
    bool operator<(const Entry& other) const {
      return logit != other.logit ? logit > other.logit : pair > other.pair;
    }
  };

  Entry scored(Index k) {
    const PairOfRegions& pair = pairs_[k];
    const PairFeatures features =
        pair_features(regions_[pair.first], regions_[pair.second], pair.boundary, pixels_);
    return {model_.logit(features), k, pairs_.renewed_version(k)};
  }

  void join(Index joined) {
    std::int32_t kept = pairs_[joined].first;
    std::int32_t lost = pairs_[joined].second;
    if (regions_[kept].area < regions_[lost].area) std::swap(kept, lost);
    RegionSums& sums = regions_[kept];
    sums.add(regions_[lost]);
    sums.sides -= 2 * pairs_[joined].boundary.length;
    std::vector<Index> changed;
    pairs_.join(joined, kept, lost, [&](Index k, bool) { changed.push_back(k); });
    nodes_[kept] = next_node_++;
    const auto grown = static_cast<double>(scored_area_[kept]) * (1 + kMergingGrowth);
    if (static_cast<double>(sums.area) >= grown) {
      scored_area_[kept] = sums.area;
      changed = pairs_.pairs_of(kept);
    }
    for (const Index k : changed) queue_.push(scored(k));
  }

  std::vector<RegionSums> regions_;
  std::vector<std::int32_t> nodes_;
  double pixels_;
  const MergingModel& model_;
  std::vector<std::int64_t> scored_area_;  ///< By region, when all of its pairs were scored last.
  PairGraph<PairOfRegions> pairs_;
  std::priority_queue<Entry> queue_;
  std::int32_t next_node_;
};

}  // namespace

std::size_t merges_to_keep(const std::vector<Merge>& by_strength) {
  const auto end = std::find_if(by_strength.begin(), by_strength.end(), [](const Merge& merge) {
    return merge.height > static_cast<float>(kStartStrength);
  });
  return static_cast<std::size_t>(end - by_strength.begin());
}

std::vector<Merge> merge_by_probability(RegionGraph graph, std::vector<Merge> kept,
                                        std::int32_t basins, const MergingModel& model) {
  constexpr auto kScale = static_cast<float>(kStartHeight / kStartStrength);
  for (Merge& merge : kept) merge.height *= kScale;
  const auto next_node = basins + 1 + static_cast<std::int32_t>(kept.size());
  Merger(std::move(graph), next_node, model).run(kept);
  return kept;
}

}  // namespace diacut
