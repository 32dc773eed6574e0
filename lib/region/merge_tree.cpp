#include "region/merge_tree.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace diacut {

namespace {

using ArcIndex = std::uint32_t;

class GreedyMerger {
 public:
  GreedyMerger(std::int32_t count, const std::vector<Arc>& arcs)
      : arcs_(arcs),
        version_(arcs.size(), 0),
        parts_(static_cast<std::size_t>(count) + 1),
        next_node_(count + 1) {
    for (std::int32_t part = 1; part <= count; ++part) parts_[part].node = part;
    between_.reserve(2 * arcs.size());
    for (ArcIndex k = 0; k < arcs_.size(); ++k) {
      parts_[arcs_[k].first].arcs.push_back(k);
      parts_[arcs_[k].second].arcs.push_back(k);
      between_[key(arcs_[k].first, arcs_[k].second)] = k;
      enqueue(k);
    }
  }

  std::vector<Merge> run() {
    double level = 0;
    while (!queue_.empty()) {
      const auto [mean, arc, version] = queue_.top();
      queue_.pop();
      if (version != version_[arc]) continue;
      level = std::max(level, std::min(mean, 1.0));
      join(arc, static_cast<float>(level));
    }
    return std::move(merges_);
  }

 private:
  static constexpr std::uint32_t kGone = static_cast<std::uint32_t>(-1);

  struct Part {
    std::int32_t node = 0;       ///< The part's number in the tree so far.
    std::vector<ArcIndex> arcs;  ///< The part's arcs; some may be gone.
  };

  static std::uint64_t key(std::int32_t a, std::int32_t b) {
    const auto [low, high] = std::minmax(a, b);
    return static_cast<std::uint64_t>(low) << 32 | static_cast<std::uint64_t>(high);
  }

  void enqueue(ArcIndex k) {
    queue_.emplace(arcs_[k].strength / static_cast<double>(arcs_[k].length), k, version_[k]);
  }

  void join(ArcIndex arc, float height) {
    std::int32_t kept = arcs_[arc].first;
    std::int32_t lost = arcs_[arc].second;
    if (parts_[kept].arcs.size() < parts_[lost].arcs.size()) std::swap(kept, lost);
    const auto [first, second] = std::minmax(parts_[kept].node, parts_[lost].node);
    merges_.push_back({first, second, height});
    version_[arc] = kGone;
    parts_[kept].node = next_node_++;
    for (const ArcIndex k : std::exchange(parts_[lost].arcs, {})) {
      if (version_[k] == kGone) continue;
      Arc& moved = arcs_[k];
      const std::int32_t other = moved.first == lost ? moved.second : moved.first;
      // Entries of lost parts stay in the table, because they are not looked up again.
      const auto [entry, is_new] = between_.try_emplace(key(kept, other), k);
      if (is_new) {
        moved.first = kept;
        moved.second = other;
        parts_[kept].arcs.push_back(k);
        continue;
      }
      Arc& united = arcs_[entry->second];
      united.strength += moved.strength;
      united.length += moved.length;
      version_[k] = kGone;
      ++version_[entry->second];
      enqueue(entry->second);
    }
  }

  std::vector<Arc> arcs_;
  /// By arc: an entry of the queue with another version is outdated.
  std::vector<std::uint32_t> version_;
  std::vector<Part> parts_;
  std::int32_t next_node_;
  std::unordered_map<std::uint64_t, ArcIndex> between_;  ///< Only looked up, never walked.
  using Entry = std::tuple<double, ArcIndex, std::uint32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
  std::vector<Merge> merges_;
};

}  // namespace

std::vector<Merge> merge_greedily(std::int32_t count, const std::vector<Arc>& arcs) {
  return GreedyMerger(count, arcs).run();
}

}  // namespace diacut
