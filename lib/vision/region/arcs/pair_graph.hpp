#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "core/large_memory.hpp"

namespace diacut {

/// The items in the order of key(item), those of one key added up by add(other).
template <class Item, class Key>
std::vector<Item> united(std::vector<Item> items, const Key& key) {
  std::sort(items.begin(), items.end(),
            [&](const Item& a, const Item& b) { return key(a) < key(b); });
  std::size_t kept = 0;
  for (std::size_t k = 0; k < items.size(); ++k) {
    if (kept > 0 && key(items[kept - 1]) == key(items[k])) {
      items[kept - 1].add(items[k]);
    } else {
      items[kept++] = items[k];
    }
  }
  items.resize(kept);
  return items;
}

/// The same of pairs, by `first` and then `second`.
template <class Pair>
std::vector<Pair> united_pairs(std::vector<Pair> pairs) {
  return united(std::move(pairs),
                [](const Pair& pair) { return std::pair(pair.first, pair.second); });
}

/// A number for each of many unordered pairs of parts: a hash table with linear probing, which is
/// never walked, so that nothing depends on where its entries lie.
class PairTable {
 public:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  /// For at most `most` pairs at once.
  explicit PairTable(std::size_t most)
      : mask_(std::bit_ceil(2 * most + 2) - 1),
        shift_(64 - static_cast<int>(std::bit_width(mask_))),
        slots_(large_vector<Slot>(mask_ + 1)) {}

  /// The number of a pair. If it has none, it gets `number`, and kNone is returned.
  std::uint32_t find_or_enter(std::int32_t a, std::int32_t b, std::uint32_t number) {
    const std::uint64_t wanted = key(a, b);
    Slot& slot = slots_[find(wanted)];
    if (slot.number != kNone) return slot.number;
    slot = {wanted, number};
    return kNone;
  }

  /// Precondition: the pair has a number.
  void remove(std::int32_t a, std::int32_t b) {
    std::size_t hole = find(key(a, b));
    for (std::size_t at = next(hole); slots_[at].number != kNone; at = next(at)) {
      // Moves into the hole what would no longer be found behind it.
      const std::size_t home = place(slots_[at].key);
      if (((at - home) & mask_) < ((at - hole) & mask_)) continue;
      slots_[hole] = slots_[at];
      hole = at;
    }
    slots_[hole].number = kNone;
  }

 private:
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t number = kNone;
  };

  static std::uint64_t key(std::int32_t a, std::int32_t b) {
    const auto [low, high] = std::minmax(a, b);
    return static_cast<std::uint64_t>(low) << 32 | static_cast<std::uint64_t>(high);
  }
  std::size_t next(std::size_t slot) const { return (slot + 1) & mask_; }
  /// Fibonacci hashing: the upper bits of the product depend on all bits of the key.
  std::size_t place(std::uint64_t key) const { return (key * 0x9E3779B97F4A7C15U) >> shift_; }
  /// The slot of the key, or the empty one where it belongs.
  std::size_t find(std::uint64_t key) const {
    std::size_t slot = place(key);
    while (slots_[slot].number != kNone && slots_[slot].key != key) slot = next(slot);
    return slot;
  }

  std::size_t mask_;
  int shift_;
  std::vector<Slot> slots_;
};

/// Regions and what each two neighbours have in common, for mergings that join neighbours one after
/// the other. A Pair has the two regions, `first` and `second`, and add(other), which takes in what
/// another pair knows.
template <class Pair>
class PairGraph {
 public:
  using Index = std::uint32_t;
  static constexpr std::uint32_t kGone = std::numeric_limits<std::uint32_t>::max();

  /// Two regions are one pair at most, and their numbers are below `regions`.
  PairGraph(std::vector<Pair> pairs, std::size_t regions)
      : pairs_(std::move(pairs)),
        version_(pairs_.size(), 0),
        of_region_(regions),
        between_(pairs_.size()) {
    for (Index k = 0; k < pairs_.size(); ++k) {
      of_region_[pairs_[k].first].push_back(k);
      of_region_[pairs_[k].second].push_back(k);
      between_.find_or_enter(pairs_[k].first, pairs_[k].second, k);
    }
  }

  Index size() const { return static_cast<Index>(pairs_.size()); }
  const Pair& operator[](Index k) const { return pairs_[k]; }
  /// The region that the pair has beside this one.
  std::int32_t other(Index k, std::int32_t region) const {
    return pairs_[k].first == region ? pairs_[k].second : pairs_[k].first;
  }
  /// kGone: the pair is none any more.
  std::uint32_t version(Index k) const { return version_[k]; }
  std::uint32_t renewed_version(Index k) { return ++version_[k]; }

  /// At least as many as the pairs of the region.
  std::size_t most_pairs(std::int32_t region) const { return of_region_[region].size(); }
  /// The pairs of the region.
  const std::vector<Index>& pairs_of(std::int32_t region) {
    std::erase_if(of_region_[region], [this](Index k) { return version_[k] == kGone; });
    return of_region_[region];
  }

  /// Makes region `lost` a part of region `kept`; their pair is `joined`. Calls changed(k, united)
  /// for each pair k of `kept` that was one of `lost`, or that took one in (`united`).
  template <class Changed>
  void join(Index joined, std::int32_t kept, std::int32_t lost, const Changed& changed) {
    between_.remove(kept, lost);
    version_[joined] = kGone;
    for (const Index k : of_region_[lost]) {
      if (version_[k] == kGone) continue;
      const std::int32_t beside = other(k, lost);
      between_.remove(lost, beside);
      const Index there = between_.find_or_enter(kept, beside, k);
      if (there == PairTable::kNone) {
        std::tie(pairs_[k].first, pairs_[k].second) = std::minmax(kept, beside);
        of_region_[kept].push_back(k);
        changed(k, false);
      } else {
        pairs_[there].add(pairs_[k]);
        version_[k] = kGone;
        changed(there, true);
      }
    }
    std::vector<Index>().swap(of_region_[lost]);
  }

 private:
  std::vector<Pair> pairs_;
  std::vector<std::uint32_t> version_;
  std::vector<std::vector<Index>> of_region_;  ///< Some may be gone.
  PairTable between_;
};

/// The pairs of a graph by weights that change as regions join, the least first (std::less, then
/// the pair with the smaller number): as in a binary partition tree (Salembier and Garrido 2000).
template <class Pair, class Weight>
class PairQueue {
 public:
  using Index = typename PairGraph<Pair>::Index;
  struct Entry {
    Weight weight;
    Index pair = 0;
    std::uint32_t version = 0;  ///< An entry with an older one does not count.

    /// For a queue whose top is the least.
    bool operator<(const Entry& other) const {
      if (other.weight < weight) return true;
      return !(weight < other.weight) && other.pair < pair;
    }
  };

  /// Of all pairs that are there, with the weights that weight_of(k) gives. `graph` must outlive
  /// the queue.
  template <class WeightOf>
  PairQueue(PairGraph<Pair>& graph, const WeightOf& weight_of) : graph_(graph) {
    first_.reserve(graph.size());
    for (Index k = 0; k < graph.size(); ++k) {
      if (graph.version(k) != graph.kGone) first_.push_back({weight_of(k), k, graph.version(k)});
    }
    std::sort(first_.begin(), first_.end());  // Faster than a queue of all: few pairs change.
  }

  /// Gives a pair a new weight.
  void push(Index k, const Weight& weight) { queue_.push({weight, k, graph_.renewed_version(k)}); }

  /// Takes the least pair out; nothing if none is left.
  std::optional<Entry> take() {
    while (!first_.empty() || !queue_.empty()) {
      const bool changed = first_.empty() || (!queue_.empty() && first_.back() < queue_.top());
      const Entry least = changed ? queue_.top() : first_.back();
      changed ? queue_.pop() : first_.pop_back();
      if (graph_.version(least.pair) == least.version) return least;
    }
    return std::nullopt;
  }

 private:
  PairGraph<Pair>& graph_;
  std::vector<Entry> first_;  ///< With their first weights, the least last.
  std::priority_queue<Entry> queue_;
};

}  // namespace diacut
