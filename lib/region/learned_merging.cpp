#include "region/learned_merging.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <queue>
#include <utility>

#include "core/parallel.hpp"
#include "region/pair_table.hpp"

namespace diacut {

namespace {

/// Fewer pairs are not worth another thread.
constexpr std::size_t kLeastPairs = 256;

class Merger {
 public:
  Merger(RegionGraph graph, std::int32_t next_node, const MergingModel& model)
      : graph_(std::move(graph)),
        model_(model),
        boundaries_of_(graph_.regions.size()),
        scored_area_(graph_.regions.size()),
        version_(graph_.pairs.size(), 0),
        between_(graph_.pairs.size()),
        next_node_(next_node) {
    for (std::size_t r = 0; r < graph_.regions.size(); ++r) {
      scored_area_[r] = graph_.regions[r].area;
    }
    for (Index k = 0; k < graph_.pairs.size(); ++k) {
      const PairOfRegions& pair = graph_.pairs[k];
      boundaries_of_[pair.first].push_back(k);
      boundaries_of_[pair.second].push_back(k);
      between_.find_or_enter(pair.first, pair.second, k);
    }
    score_all();
  }

  void run(std::vector<Merge>& merges) {
    double height = kStartHeight;
    while (!queue_.empty()) {
      const Entry least = queue_.top();
      queue_.pop();
      if (least.version != version_[least.pair]) continue;
      height = std::max(height, 1.0 / (1.0 + std::exp(-least.logit)));
      const PairOfRegions& pair = graph_.pairs[least.pair];
      const auto [first, second] = std::minmax(graph_.nodes[pair.first], graph_.nodes[pair.second]);
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

  double logit(Index k) const {
    const PairOfRegions& pair = graph_.pairs[k];
    return model_.logit(pair_features(graph_.regions[pair.first], graph_.regions[pair.second],
                                      pair.boundary, graph_.pixels));
  }

  void score(Index k) { queue_.push({logit(k), k, ++version_[k]}); }

  /// On all cores.
  void score_all() {
    std::vector<Entry> entries(graph_.pairs.size());
    parallel_ranges(entries.size(), kLeastPairs, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const auto k = static_cast<Index>(i);
        entries[i] = {logit(k), k, ++version_[k]};
      }
    });
    queue_ = std::priority_queue<Entry>({}, std::move(entries));
  }

  bool gone(Index k) const { return graph_.pairs[k].boundary.length == 0; }
  void remove(Index k) {
    graph_.pairs[k].boundary.length = 0;
    ++version_[k];
  }

  void join(Index joined) {
    PairOfRegions& pair = graph_.pairs[joined];
    std::int32_t kept = pair.first;
    std::int32_t lost = pair.second;
    if (graph_.regions[kept].area < graph_.regions[lost].area) std::swap(kept, lost);
    between_.remove(kept, lost);
    RegionSums& sums = graph_.regions[kept];
    sums.add(graph_.regions[lost]);
    sums.sides -= 2 * pair.boundary.length;
    remove(joined);
    changed_.clear();
    for (const Index k : boundaries_of_[lost]) {
      if (!gone(k)) move(k, lost, kept);
    }
    std::vector<Index>().swap(boundaries_of_[lost]);
    graph_.nodes[kept] = next_node_++;
    const auto grown = static_cast<double>(scored_area_[kept]) * (1 + kMergingGrowth);
    if (static_cast<double>(sums.area) >= grown) {
      scored_area_[kept] = sums.area;
      std::erase_if(boundaries_of_[kept], [&](Index k) { return gone(k); });
      for (const Index k : boundaries_of_[kept]) score(k);
    } else {
      for (const Index k : changed_) score(k);
    }
  }

  /// Makes a boundary of the region that is lost one of the region that is kept.
  void move(Index k, std::int32_t lost, std::int32_t kept) {
    PairOfRegions& pair = graph_.pairs[k];
    const std::int32_t other = pair.first == lost ? pair.second : pair.first;
    between_.remove(lost, other);
    const Index there = between_.find_or_enter(kept, other, k);
    if (there == PairTable::kNone) {
      pair.first = std::min(kept, other);
      pair.second = std::max(kept, other);
      boundaries_of_[kept].push_back(k);
      changed_.push_back(k);
      return;
    }
    graph_.pairs[there].boundary.add(pair.boundary);
    remove(k);
    changed_.push_back(there);
  }

  RegionGraph graph_;
  const MergingModel& model_;
  std::vector<std::vector<Index>> boundaries_of_;  ///< By region; some may be gone.
  std::vector<std::int64_t> scored_area_;          ///< By region, when all were scored last.
  std::vector<std::uint32_t> version_;             ///< By boundary: older entries do not count.
  PairTable between_;
  std::priority_queue<Entry> queue_;
  std::vector<Index> changed_;
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
