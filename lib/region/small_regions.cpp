#include "region/small_regions.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "core/disjoint_sets.hpp"
#include "region/borders.hpp"

namespace diacut {
namespace {

constexpr std::int32_t kSmallRegionsNone = 0;  // No node has this number.

/// The other leaf of a border, and the border's length.
struct Neighbour {
  std::int32_t leaf = 0;
  std::int64_t length = 0;
};

class Absorption {
 public:
  Absorption(const std::vector<Merge>& merges, const std::vector<Border>& borders,
             const std::vector<std::int64_t>& sizes, std::int64_t min_size)
      : merges_(merges),
        min_size_(min_size),
        leaves_(sizes.size() - 1),
        area_(leaves_ + 1 + merges.size(), 0),
        first_leaf_(area_.size(), kSmallRegionsNone),
        last_leaf_(area_.size(), kSmallRegionsNone),
        next_leaf_(leaves_ + 1, kSmallRegionsNone),
        groups_(leaves_ + 1),
        tree_(leaves_ + 1),
        node_(leaves_ + 1, kSmallRegionsNone) {
    std::copy(sizes.begin(), sizes.end(), area_.begin());
    for (std::size_t leaf = 1; leaf <= leaves_; ++leaf) {
      first_leaf_[leaf] = last_leaf_[leaf] = node_[leaf] = static_cast<std::int32_t>(leaf);
    }
    find_neighbours(borders);
    for (std::size_t k = 0; k < merges.size(); ++k) add(k);
  }

  /// The number of the new leaf that each old leaf is part of. Index 0: 0.
  std::vector<std::int32_t> new_leaves() {
    std::vector<std::int32_t> number(leaves_ + 1, 0);
    std::int32_t count = 0;
    for (std::size_t leaf = 1; leaf <= leaves_; ++leaf) {
      const std::int32_t group = groups_.find(static_cast<std::int32_t>(leaf));
      // A group is named by its first leaf, and leaves are in scan order.
      if (group == static_cast<std::int32_t>(leaf)) number[leaf] = ++count;
      number[leaf] = number[group];
    }
    return number;
  }

  /// The merges of two nodes that are large enough, for leaves with these new numbers.
  std::vector<Merge> merges(const std::vector<std::int32_t>& number) {
    std::vector<std::int32_t> made(area_.size(), kSmallRegionsNone);  // By old node: the new one.
    for (std::size_t leaf = 1; leaf <= leaves_; ++leaf) made[leaf] = number[leaf];
    std::vector<Merge> result;
    std::int32_t next = *std::max_element(number.begin(), number.end());
    for (std::size_t k = 0; k < merges_.size(); ++k) {
      const Merge& merge = merges_[k];
      std::int32_t& mine = made[leaves_ + 1 + k];
      if (large(merge.first) && large(merge.second)) {
        const auto [first, second] = std::minmax(made[merge.first], made[merge.second]);
        result.push_back({first, second, merge.height});
        mine = ++next;
      } else {
        // The other one has been absorbed; of two small ones, either is in their group.
        mine = made[large(merge.second) ? merge.second : merge.first];
      }
    }
    return result;
  }

 private:
  bool large(std::int32_t node) const { return area_[node] >= min_size_; }

  void find_neighbours(const std::vector<Border>& borders) {
    neighbours_begin_.assign(leaves_ + 2, 0);
    for (const Border& border : borders) {
      ++neighbours_begin_[static_cast<std::size_t>(border.first) + 1];
      ++neighbours_begin_[static_cast<std::size_t>(border.second) + 1];
    }
    std::partial_sum(neighbours_begin_.begin(), neighbours_begin_.end(), neighbours_begin_.begin());
    neighbours_.resize(neighbours_begin_.back());
    std::vector<std::size_t> next = neighbours_begin_;
    for (const Border& border : borders) {
      neighbours_[next[border.first]++] = {border.second, border.length};
      neighbours_[next[border.second]++] = {border.first, border.length};
    }
  }

  void add(std::size_t k) {
    const Merge& merge = merges_[k];
    std::int32_t small = merge.first;
    std::int32_t other = merge.second;
    const std::size_t node = leaves_ + 1 + k;
    if (large(small)) std::swap(small, other);
    if (!large(small)) {
      // A small node is one group of all its leaves.
      const std::int32_t into = large(other) ? longest_border(small, other) : first_leaf_[other];
      groups_.unite(first_leaf_[small], into);
    }
    area_[node] = area_[merge.first] + area_[merge.second];
    first_leaf_[node] = first_leaf_[merge.first];
    next_leaf_[last_leaf_[merge.first]] = first_leaf_[merge.second];
    last_leaf_[node] = last_leaf_[merge.second];
    node_[tree_.unite(first_leaf_[merge.first], first_leaf_[merge.second])] =
        static_cast<std::int32_t>(node);
  }

  /// Of the groups of node `other`, the one that shares the longest boundary with node `small`.
  std::int32_t longest_border(std::int32_t small, std::int32_t other) {
    std::vector<std::pair<std::int32_t, std::int64_t>> shares;
    for (std::int32_t leaf = first_leaf_[small]; leaf != kSmallRegionsNone;
         leaf = leaf == last_leaf_[small] ? kSmallRegionsNone : next_leaf_[leaf]) {
      for (std::size_t k = neighbours_begin_[leaf]; k < neighbours_begin_[leaf + 1]; ++k) {
        const Neighbour& neighbour = neighbours_[k];
        if (node_[tree_.find(neighbour.leaf)] != other) continue;
        shares.emplace_back(groups_.find(neighbour.leaf), neighbour.length);
      }
    }
    std::sort(shares.begin(), shares.end());
    std::int32_t best = kSmallRegionsNone;
    std::int64_t longest = 0;
    for (std::size_t k = 0; k < shares.size();) {
      const std::int32_t group = shares[k].first;
      std::int64_t length = 0;
      for (; k < shares.size() && shares[k].first == group; ++k) length += shares[k].second;
      if (length <= longest) continue;
      longest = length;
      best = group;
    }
    return best;
  }

  const std::vector<Merge>& merges_;
  std::int64_t min_size_;
  std::size_t leaves_;
  // By node: its pixels, and its leaves as a list.
  std::vector<std::int64_t> area_;
  std::vector<std::int32_t> first_leaf_;
  std::vector<std::int32_t> last_leaf_;
  std::vector<std::int32_t> next_leaf_;  ///< By leaf.
  std::vector<Neighbour> neighbours_;    ///< By leaf.
  std::vector<std::size_t> neighbours_begin_;
  DisjointSets groups_;             ///< Of leaves: those that become one leaf.
  DisjointSets tree_;               ///< Of leaves: those that the merges so far join.
  std::vector<std::int32_t> node_;  ///< By the name of a set of tree_: its node.
};

}  // namespace

LargeRegions large_regions(const std::vector<Merge>& merges, const std::vector<Border>& borders,
                           const std::vector<std::int64_t>& sizes, std::int64_t min_size) {
  Absorption absorption(merges, borders, sizes, min_size);
  LargeRegions result;
  result.leaf_of = absorption.new_leaves();
  result.count = *std::max_element(result.leaf_of.begin(), result.leaf_of.end());
  result.merges = absorption.merges(result.leaf_of);
  return result;
}

Hierarchy without_small_regions(Hierarchy hierarchy, std::int64_t min_size) {
  if (min_size <= 1) return hierarchy;
  LargeRegions large = large_regions(hierarchy.merges, find_borders(hierarchy.leaves),
                                     region_sizes(hierarchy.leaves), min_size);
  hierarchy.merges = std::move(large.merges);
  hierarchy.leaves.count = large.count;
  hierarchy.leaves.values = relabelled(hierarchy.leaves.values, large.leaf_of);
  return hierarchy;
}

}  // namespace diacut
