#include "region/cuts/leaf_cut.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <queue>
#include <utility>

#include "core/disjoint_sets.hpp"
#include "diacut/errors.hpp"

namespace diacut {

namespace {

/// A hierarchy without small regions, as without_small_regions() has it, but for its pixels.
struct LargeRegions {
  std::vector<std::int32_t> leaf_of;  ///< By old leaf the new one, in scan order; 0 for 0.
  std::int32_t count = 0;             ///< New leaves.
  std::vector<Merge> merges;
};

constexpr std::int32_t kNoNode = 0;

/// The other leaf of a border, and the border's length.
struct Neighbour {
  std::int32_t leaf = 0;
  std::int64_t length = 0;
};

/// Joins small regions with others. `borders` and `sizes`: find_borders() and region_sizes() of the
/// leaves. `min_size` as in without_small_regions().
class Absorption {
 public:
  Absorption(const std::vector<Merge>& merges, const std::vector<Border>& borders,
             const std::vector<std::int64_t>& sizes, std::int64_t min_size)
      : merges_(merges),
        min_size_(min_size),
        leaves_(sizes.size() - 1),
        area_(leaves_ + 1 + merges.size(), 0),
        first_leaf_(area_.size(), kNoNode),
        last_leaf_(area_.size(), kNoNode),
        next_leaf_(leaves_ + 1, kNoNode),
        groups_(leaves_ + 1),
        tree_(leaves_ + 1),
        node_(leaves_ + 1, kNoNode) {
    std::copy(sizes.begin(), sizes.end(), area_.begin());
    for (std::size_t leaf = 1; leaf <= leaves_; ++leaf) {
      first_leaf_[leaf] = last_leaf_[leaf] = node_[leaf] = static_cast<std::int32_t>(leaf);
    }
    find_neighbours(borders);
    for (std::size_t k = 0; k < merges.size(); ++k) add(k);
  }

  LargeRegions result() {
    LargeRegions result{groups_.numbers(), 0, {}};
    result.count = *std::max_element(result.leaf_of.begin(), result.leaf_of.end());
    std::vector<std::int32_t> made = result.leaf_of;  // By old node: the new one.
    std::int32_t next = result.count;
    for (const Merge& merge : merges_) {
      if (large(merge.first) && large(merge.second)) {
        const auto [first, second] = std::minmax(made[merge.first], made[merge.second]);
        result.merges.push_back({first, second, merge.height});
        made.push_back(++next);
      } else {
        // The other one has been absorbed; of two small ones, either is in their group.
        made.push_back(made[large(merge.second) ? merge.second : merge.first]);
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

  /// The group of node `other` that shares the longest boundary with node `small`.
  std::int32_t longest_border(std::int32_t small, std::int32_t other) {
    std::vector<std::pair<std::int32_t, std::int64_t>> shares;
    for (std::int32_t leaf = first_leaf_[small]; leaf != kNoNode;
         leaf = leaf == last_leaf_[small] ? kNoNode : next_leaf_[leaf]) {
      for (std::size_t k = neighbours_begin_[leaf]; k < neighbours_begin_[leaf + 1]; ++k) {
        const Neighbour& neighbour = neighbours_[k];
        if (node_[tree_.find(neighbour.leaf)] != other) continue;
        shares.emplace_back(groups_.find(neighbour.leaf), neighbour.length);
      }
    }
    std::sort(shares.begin(), shares.end());
    std::int32_t best = kNoNode;
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

/// The labels of nodes, by their first leaves: in scan order, where leaves are. `top`: by node of
/// the tree, or of its first nodes, the node itself; 0: the node has no label of its own. A leaf
/// has the label of the last of the nodes that it is part of.
LeafLabels labels_of_tops(std::int32_t leaves, const std::vector<Merge>& merges,
                          std::vector<std::int32_t> top) {
  const auto first_merge = static_cast<std::size_t>(leaves) + 1;
  for (std::size_t node = top.size(); node-- > first_merge;) {
    if (top[node] == 0) continue;
    const Merge& merge = merges[node - first_merge];
    top[merge.first] = top[merge.second] = top[node];
  }
  std::vector<std::int32_t> number(top.size(), 0);
  LeafLabels result;
  result.of_leaf.resize(first_merge, 0);
  for (std::size_t leaf = 1; leaf < first_merge; ++leaf) {
    if (top[leaf] == 0) continue;
    std::int32_t& mine = number[top[leaf]];
    if (mine == 0) {
      mine = static_cast<std::int32_t>(++result.count);
      result.nodes.push_back(top[leaf]);
    }
    result.of_leaf[leaf] = mine;
  }
  return result;
}

Labels labels_of_pixels(const Labels& leaves, const LeafLabels& labels) {
  return {leaves.width, leaves.height, labels.count, relabelled(leaves.values, labels.of_leaf)};
}

LeafTree tree_of(const Hierarchy& hierarchy) {
  return {static_cast<std::int32_t>(hierarchy.leaves.count), hierarchy.merges, hierarchy.threshold};
}

LeafLabels cut_at(const LeafTree& tree, double threshold) {
  const auto end = std::find_if_not(tree.merges.begin(), tree.merges.end(),
                                    [&](const Merge& merge) { return merge.height <= threshold; });
  return labels_after(tree.leaves, tree.merges,
                      static_cast<std::size_t>(end - tree.merges.begin()));
}

/// `regions` regions, or as many as there are leaves, or pieces. From the whole picture on the node
/// is divided that is largest in height^(1 - compactness) area^compactness, of equals the last one;
/// by heights alone this undoes the last merges. `sizes`: region_sizes() of the leaves.
LeafLabels divide_to_count(const LeafTree& tree, const std::vector<std::int64_t>& sizes,
                           std::int64_t regions, double compactness) {
  const std::size_t first_merge = sizes.size();
  std::vector<double> area(sizes.begin(), sizes.end());
  std::vector<std::int32_t> top(first_merge + tree.merges.size());
  std::iota(top.begin(), top.end(), 0);
  for (const Merge& merge : tree.merges) {
    area.push_back(area[merge.first] + area[merge.second]);
    top[merge.first] = top[merge.second] = 0;
  }
  std::priority_queue<std::pair<double, std::int32_t>> open;  // Leaves come last.
  const auto add = [&](std::int32_t node) {
    top[node] = node;
    const bool is_leaf = node <= tree.leaves;
    open.emplace(is_leaf ? -1
                         : std::pow(tree.merges[node - first_merge].height, 1 - compactness) *
                               std::pow(area[node], compactness),
                 node);
  };
  for (const std::int32_t node : std::vector(top)) {
    if (node != 0) add(node);
  }
  while (!open.empty() && open.top().first >= 0 &&
         static_cast<std::int64_t>(open.size()) < regions) {
    const std::int32_t node = open.top().second;
    open.pop();
    top[node] = 0;
    add(tree.merges[node - first_merge].first);
    add(tree.merges[node - first_merge].second);
  }
  return labels_of_tops(tree.leaves, tree.merges, std::move(top));
}

LeafLabels cut_to_count(const LeafTree& tree, const std::vector<std::int64_t>& sizes,
                        std::int64_t regions, double compactness, std::vector<std::string>& notes) {
  if (regions < 1) {
    throw ConfigError(fmt::format("{} regions were asked for; ask for 1 or more", regions));
  }
  const std::int64_t leaves = tree.leaves;
  const auto merges = static_cast<std::int64_t>(tree.merges.size());
  if (regions > leaves) {
    notes.push_back(
        fmt::format("{} regions were asked for, but the finest division of this image has {}. Of a "
                    "large image segment finds more with a larger --detail (image.detail).",
                    regions, leaves));
  } else if (regions < leaves - merges) {
    notes.push_back(
        fmt::format("{} regions were asked for, but the pixels with data lie in {} separate "
                    "pieces, so there are {}.",
                    regions, leaves - merges, leaves - merges));
  }
  return divide_to_count(tree, sizes, regions, compactness);
}

/// The cut of a tree whose leaves have at least `least` pixels. `all`: the leaves of the whole
/// tree.
LeafLabels cut_large(const LeafTree& tree, const std::vector<std::int64_t>& sizes,
                     std::int64_t least, std::int32_t all, const RegionParameters& parameters,
                     std::vector<std::string>& notes) {
  if (parameters.regions > 0) {
    if (parameters.regions > tree.leaves && tree.leaves < all) {
      notes.push_back(fmt::format(
          "{} regions were asked for, but there are {} of at least {} pixels: a smaller "
          "--min-size (region.min_size) gives more, and of a large image a larger --detail.",
          parameters.regions, tree.leaves, least));
      return labels_after(tree.leaves, tree.merges, 0);
    }
    return cut_to_count(tree, sizes, parameters.regions, parameters.compactness, notes);
  }
  const double threshold = parameters.threshold.value_or(tree.threshold);
  LeafLabels labels = cut_at(tree, threshold);
  if (labels.count == 1 && !tree.merges.empty()) {
    notes.push_back(fmt::format(
        "There is one region: the strongest boundary in the picture is {:.2g}, and the threshold "
        "{:.2g}. A smaller --threshold (region.threshold), or --regions, gives more.",
        tree.merges.back().height, threshold));
  }
  return labels;
}

/// The automatic least size of a hierarchy's regions. On photographs of the Berkeley segmentation
/// data set no region that is smaller is one that people draw: without them covering is the same.
constexpr double kAutomaticShare = 0.001;
/// The automatic least size of a hierarchy's regions where a number of regions is asked for. On
/// photographs of the Berkeley segmentation data set the covering is .012 better than with a
/// thousandth: what a smaller region is joined to is often another thing.
constexpr double kCountedShare = 0.0003;
/// As a part of the mean size of the regions that were asked for: with much more there would not be
/// as many.
constexpr double kAutomaticPart = 0.25;
/// The automatic least size of direct cuts.
constexpr std::int64_t kKwayPixels = 50;

}  // namespace

LeafLabels labels_after(std::int32_t leaves, const std::vector<Merge>& merges, std::size_t count) {
  std::vector<std::int32_t> top(static_cast<std::size_t>(leaves) + 1 + count);
  std::iota(top.begin(), top.end(), 0);
  return labels_of_tops(leaves, merges, std::move(top));
}

Labels labels_of_nodes(const Hierarchy& hierarchy, const std::vector<std::int32_t>& nodes) {
  const auto leaves = static_cast<std::int32_t>(hierarchy.leaves.count);
  std::vector<std::int32_t> top(static_cast<std::size_t>(leaves) + 1 + hierarchy.merges.size(), 0);
  for (const std::int32_t node : nodes) top[node] = node;
  return labels_of_pixels(hierarchy.leaves,
                          labels_of_tops(leaves, hierarchy.merges, std::move(top)));
}

Labels cut(const Hierarchy& hierarchy, double threshold) {
  return labels_of_pixels(hierarchy.leaves, cut_at(tree_of(hierarchy), threshold));
}

Labels cut_to_count(const Hierarchy& hierarchy, std::int64_t regions,
                    std::vector<std::string>& notes) {
  return labels_of_pixels(hierarchy.leaves,
                          cut_to_count(tree_of(hierarchy), region_sizes(hierarchy.leaves), regions,
                                       RegionParameters{}.compactness, notes));
}

LeafLabels cut_leaves(const LeafTree& all, const std::vector<std::int64_t>& sizes,
                      const std::function<std::vector<Border>()>& borders,
                      const RegionParameters& parameters, std::vector<std::string>& notes) {
  const std::int64_t least =
      least_pixels(parameters, std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}));
  if (least <= 1) return cut_large(all, sizes, least, all.leaves, parameters, notes);
  const LargeRegions large = Absorption(all.merges, borders(), sizes, least).result();
  std::vector<std::int64_t> large_sizes(static_cast<std::size_t>(large.count) + 1, 0);
  for (std::size_t leaf = 1; leaf < sizes.size(); ++leaf) {
    large_sizes[large.leaf_of[leaf]] += sizes[leaf];
  }
  LeafLabels labels = cut_large({large.count, large.merges, all.threshold}, large_sizes, least,
                                all.leaves, parameters, notes);
  // Both leaves are in scan order.
  labels.of_leaf = relabelled(large.leaf_of, labels.of_leaf);
  return labels;
}

Labels cut(const Hierarchy& hierarchy, const RegionParameters& parameters,
           std::vector<std::string>& notes) {
  const auto borders = [&] { return find_borders(hierarchy.leaves); };
  return labels_of_pixels(
      hierarchy.leaves,
      cut_leaves(tree_of(hierarchy), region_sizes(hierarchy.leaves), borders, parameters, notes));
}

Hierarchy without_small_regions(Hierarchy hierarchy, std::int64_t min_size) {
  if (min_size <= 1) return hierarchy;
  LargeRegions large = Absorption(hierarchy.merges, find_borders(hierarchy.leaves),
                                  region_sizes(hierarchy.leaves), min_size)
                           .result();
  hierarchy.merges = std::move(large.merges);
  hierarchy.leaves.count = large.count;
  hierarchy.leaves.values = relabelled(hierarchy.leaves.values, large.leaf_of);
  return hierarchy;
}

std::int64_t least_pixels(const RegionParameters& parameters, std::int64_t pixels) {
  const auto of_data = [pixels](double share) {
    return static_cast<std::int64_t>(std::ceil(share * static_cast<double>(pixels)));
  };
  const LeastSize& size = parameters.min_size;
  switch (size.unit) {
    case LeastSize::Unit::kPixels:
      return static_cast<std::int64_t>(size.value);
    case LeastSize::Unit::kShare:
      return of_data(size.value);
    case LeastSize::Unit::kSquareMetres:
      throw ConfigError(
          fmt::format("region.min_size is {}, an area on the ground, and the picture is no scene: "
                      "give a number of pixels, or a share such as 0.2%",
                      to_string(size)));
    case LeastSize::Unit::kAutomatic:
      break;
  }
  if (parameters.method == RegionMethod::kKway) return kKwayPixels;
  if (parameters.regions == 0) return of_data(kAutomaticShare);
  return of_data(std::min(kCountedShare, kAutomaticPart / parameters.regions));
}

}  // namespace diacut
