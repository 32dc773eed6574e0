#include "region/merge_tree.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "core/large_memory.hpp"
#include "core/parallel.hpp"
#include "region/boundary_queue.hpp"
#include "region/pair_table.hpp"

namespace diacut {

namespace {

/// Fewer parts are not worth a block of their own.
constexpr std::size_t kMergeTreeLeastParts = 512;
constexpr std::size_t kMostBlocks = 64;

/// A part, or several that became one.
struct Region {
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  /// The block level from which on all of its boundaries are within its block.
  int level = 0;
  /// Whether what it joins first depends on another block.
  bool waits = false;
  // Ends of boundaries, as a list: 2k is the first part's of boundary k, 2k + 1 the second's. Those
  // of boundaries that are gone may remain in it.
  std::uint32_t first_end = kNone;
  std::uint32_t last_end = kNone;
  std::uint32_t ends = 0;
};

/// Merges within one block as far as that depends on nothing outside of it.
class BlockMerger {
 public:
  /// `regions`: by part; used only where the boundaries name them. Regions with boundaries outside
  /// of the block have a level above `level`.
  BlockMerger(std::vector<Boundary> boundaries, std::span<Region> regions, int level)
      : boundaries_(std::move(boundaries)),
        regions_(regions),
        next_end_(large_vector<End>(2 * boundaries_.size())),
        between_(boundaries_.size()),
        queue_(boundaries_, prepared(level)) {}

  void run() {
    while (!queue_.empty()) {
      const Index least = queue_.first();
      queue_.remove(least);
      Region& a = regions_[boundaries_[least].first];
      Region& b = regions_[boundaries_[least].second];
      if (a.waits || b.waits) {
        a.waits = b.waits = true;
      } else {
        join(least);
      }
    }
  }

  /// In the order of before().
  std::vector<Join> joins() && { return std::move(joins_); }

  std::vector<Boundary> remaining() && {
    std::erase_if(boundaries_, [](const Boundary& boundary) { return boundary.length == 0; });
    return std::move(boundaries_);
  }

 private:
  using Index = BoundaryQueue::Index;
  using End = std::uint32_t;

  /// Enters the boundaries everywhere but in the queue. Returns whether each belongs there.
  std::vector<char> prepared(int level) {
    for (const Boundary& boundary : boundaries_) {
      for (const std::int32_t part : {boundary.first, boundary.second}) {
        Region& region = regions_[part];
        region = {region.level, region.level > level, Region::kNone, Region::kNone, 0};
      }
    }
    std::vector<char> queued(boundaries_.size());
    for (Index k = 0; k < boundaries_.size(); ++k) {
      const Boundary& boundary = boundaries_[k];
      add_end(boundary.first, 2 * k);
      add_end(boundary.second, 2 * k + 1);
      between_.find_or_enter(boundary.first, boundary.second, k);
      const bool both_wait = regions_[boundary.first].waits && regions_[boundary.second].waits;
      queued[k] = both_wait ? 0 : 1;
    }
    return queued;
  }

  void add_end(std::int32_t part, End end) {
    Region& region = regions_[part];
    next_end_[end] = Region::kNone;
    (region.first_end == Region::kNone ? region.first_end : next_end_[region.last_end]) = end;
    region.last_end = end;
    ++region.ends;
  }

  void join(Index removed) {
    Boundary& boundary = boundaries_[removed];
    between_.remove(boundary.first, boundary.second);
    if (regions_[boundary.first].ends < regions_[boundary.second].ends) {
      std::swap(boundary.first, boundary.second);
    }
    joins_.push_back({boundary, boundary.mean()});
    boundary.length = 0;
    const std::int32_t kept = boundary.first;
    const std::int32_t lost = boundary.second;
    for (End end = regions_[lost].first_end; end != Region::kNone;) {
      const End next = next_end_[end];
      if (boundaries_[end / 2].length != 0) move(end, lost, kept);
      end = next;
    }
  }

  void move(End end, std::int32_t lost, std::int32_t kept) {
    Boundary& moved = boundaries_[end / 2];
    const std::int32_t other = end % 2 == 0 ? moved.second : moved.first;
    between_.remove(lost, other);
    const Index there = between_.find_or_enter(kept, other, end / 2);
    if (there == PairTable::kNone) {
      (end % 2 == 0 ? moved.first : moved.second) = kept;
      add_end(kept, end);
      return;
    }
    Boundary& united = boundaries_[there];
    united.strength += moved.strength;
    united.length += moved.length;
    united.earliest = std::min(united.earliest, moved.earliest);
    moved.length = 0;
    queue_.remove(end / 2);
    queue_.update(there);
  }

  std::vector<Boundary> boundaries_;
  std::span<Region> regions_;
  std::vector<End> next_end_;  ///< By end, the next one of its region.
  PairTable between_;
  BoundaryQueue queue_;
  std::vector<Join> joins_;
};

/// Blocks of parts, whose number is a power of two; at each level pairs of blocks become one.
class Blocks {
 public:
  Blocks(std::int32_t count, const std::vector<Boundary>& boundaries,
         const std::vector<char>& waits)
      : regions_(large_vector<Region>(static_cast<std::size_t>(count) + 1)),
        parts_a_block_(block_size(regions_.size())),
        blocks_(std::bit_ceil((regions_.size() - 1) / parts_a_block_ + 1)),
        crossing_(blocks_.size()) {
    each_block(0, [&](std::size_t block) { take(block, boundaries); });
    for (const std::vector<Boundary>& some : crossing_) {
      for (const Boundary& boundary : some) {
        const int level = level_of(boundary);
        for (const std::int32_t part : {boundary.first, boundary.second}) {
          regions_[part].level = std::max(regions_[part].level, level);
        }
      }
    }
    for (std::size_t part = 0; part < waits.size(); ++part) {
      if (waits[part] != 0) regions_[part].level = std::numeric_limits<int>::max();
    }
  }

  PartialMerging run() {
    for (int level = 0;; ++level) {
      if (level > 0) each_block(level, [&](std::size_t block) { unite(block, level); });
      each_block(level, [&](std::size_t block) { merge(block, level); });
      if (blocks_.size() >> level > 1) continue;
      Block& all = blocks_.front();
      return {std::move(all.joins), std::move(all.boundaries)};
    }
  }

 private:
  struct Block {
    std::vector<Boundary> boundaries;
    std::vector<Join> joins;
  };

  static std::size_t block_size(std::size_t parts) {
    return std::max(kMergeTreeLeastParts, parts / kMostBlocks + 1);
  }
  std::size_t block_of(std::int32_t part) const {
    return static_cast<std::size_t>(part) / parts_a_block_;
  }
  /// From which on both parts are in one block.
  int level_of(const Boundary& boundary) const {
    return static_cast<int>(std::bit_width(block_of(boundary.first) ^ block_of(boundary.second)));
  }

  /// Calls work(b) for each block b of a level, which is made of the 2^level blocks from b on.
  template <class Work>
  void each_block(int level, const Work& work) {
    parallel_for(static_cast<int>(blocks_.size() >> level),
                 [&](int k) { work(static_cast<std::size_t>(k) << level); });
  }

  /// Takes the boundaries of the first parts in a block.
  void take(std::size_t block, const std::vector<Boundary>& boundaries) {
    const auto begins = [&](std::size_t part) {
      return std::lower_bound(boundaries.begin(), boundaries.end(), part,
                              [](const Boundary& boundary, std::size_t wanted) {
                                return static_cast<std::size_t>(boundary.first) < wanted;
                              });
    };
    const auto end = begins((block + 1) * parts_a_block_);
    for (auto boundary = begins(block * parts_a_block_); boundary != end; ++boundary) {
      (level_of(*boundary) == 0 ? blocks_[block].boundaries : crossing_[block])
          .push_back(*boundary);
    }
  }

  /// Takes over what is left of the second half of a block, and the boundaries between the halves.
  void unite(std::size_t block, int level) {
    const std::size_t half = std::size_t{1} << (level - 1);
    Block& into = blocks_[block];
    Block& from = blocks_[block + half];
    into.boundaries.insert(into.boundaries.end(), from.boundaries.begin(), from.boundaries.end());
    std::vector<Boundary>().swap(from.boundaries);
    for (std::size_t b = block; b < block + half; ++b) {
      std::copy_if(crossing_[b].begin(), crossing_[b].end(), std::back_inserter(into.boundaries),
                   [&](const Boundary& boundary) { return level_of(boundary) == level; });
    }
    append(into.joins, std::exchange(from.joins, {}));
  }

  void merge(std::size_t block, int level) {
    Block& mine = blocks_[block];
    BlockMerger merger(std::move(mine.boundaries), regions_, level);
    merger.run();
    append(mine.joins, std::move(merger).joins());
    mine.boundaries = std::move(merger).remaining();
  }

  static void append(std::vector<Join>& into, const std::vector<Join>& more) {
    const auto middle = static_cast<std::ptrdiff_t>(into.size());
    into.insert(into.end(), more.begin(), more.end());
    std::inplace_merge(into.begin(), into.begin() + middle, into.end(), before);
  }

  std::vector<Region> regions_;
  std::size_t parts_a_block_;
  std::vector<Block> blocks_;
  std::vector<std::vector<Boundary>> crossing_;  ///< By the block of their first part.
};

}  // namespace

PartialMerging merge_boundaries(std::int32_t count, const std::vector<Boundary>& boundaries,
                                const std::vector<char>& waits) {
  return Blocks(count, boundaries, waits).run();
}

std::vector<Merge> merges_of(std::int32_t count, const std::vector<Join>& joins) {
  std::vector<std::int32_t> node(static_cast<std::size_t>(count) + 1);
  std::iota(node.begin(), node.end(), 0);
  std::int32_t next = count + 1;
  std::vector<Merge> merges;
  merges.reserve(joins.size());
  for (const Join& join : joins) {
    const auto [first, second] = std::minmax(node[join.removed.first], node[join.removed.second]);
    const double mean = join.mean / static_cast<double>(kUnitStrength);
    merges.push_back({first, second, static_cast<float>(std::min(mean, 1.0))});
    node[join.removed.first] = next++;
  }
  return merges;
}

std::vector<Boundary> boundaries_of(const std::vector<Arc>& arcs) {
  std::vector<Boundary> boundaries;
  boundaries.reserve(arcs.size());
  for (const Arc& arc : arcs) {
    boundaries.push_back(
        {arc.first, arc.second, arc.strength, arc.length, arc_order(arc.first, arc.second)});
  }
  return boundaries;
}

std::vector<Merge> merge_greedily(std::int32_t count, const std::vector<Arc>& arcs) {
  return merges_of(count, merge_boundaries(count, boundaries_of(arcs), {}).joins);
}

}  // namespace diacut
