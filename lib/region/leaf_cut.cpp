#include "region/leaf_cut.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "diacut/errors.hpp"
#include "region/least_pixels.hpp"
#include "region/small_regions.hpp"

namespace diacut {

namespace {

/// The leaves of a merge tree: those of a hierarchy, or some of these together.
struct Tree {
  const std::vector<std::int32_t>& leaf_of;  ///< By leaf of the hierarchy, in scan order.
  std::int32_t count = 0;
  const std::vector<Merge>& merges;
};

/// The leaf of each leaf: itself.
std::vector<std::int32_t> same_leaves(std::int64_t count) {
  std::vector<std::int32_t> leaf_of(static_cast<std::size_t>(count) + 1);
  std::iota(leaf_of.begin(), leaf_of.end(), 0);
  return leaf_of;
}

/// The regions after the first `count` merges.
LeafLabels after_merges(const Tree& tree, std::size_t count) {
  const auto first_merge = static_cast<std::size_t>(tree.count) + 1;
  // By node, the one that holds it in the end; from the last merge down.
  std::vector<std::int32_t> top(first_merge + count);
  std::iota(top.begin(), top.end(), 0);
  for (std::size_t k = count; k-- > 0;) {
    top[tree.merges[k].first] = top[first_merge + k];
    top[tree.merges[k].second] = top[first_merge + k];
  }
  // Leaves are in scan order, so that regions in the order of their first leaves are too.
  std::vector<std::int32_t> number(top.size(), 0);
  LeafLabels result;
  result.of_leaf.resize(tree.leaf_of.size(), 0);
  for (std::size_t leaf = 1; leaf < result.of_leaf.size(); ++leaf) {
    std::int32_t& mine = number[top[tree.leaf_of[leaf]]];
    if (mine == 0) mine = static_cast<std::int32_t>(++result.count);
    result.of_leaf[leaf] = mine;
  }
  return result;
}

LeafLabels cut_at(const Tree& tree, double threshold) {
  const auto end = std::find_if_not(tree.merges.begin(), tree.merges.end(),
                                    [&](const Merge& merge) { return merge.height <= threshold; });
  return after_merges(tree, static_cast<std::size_t>(end - tree.merges.begin()));
}

LeafLabels cut_to_count(const Tree& tree, std::int64_t regions, std::vector<std::string>& notes) {
  if (regions < 1) {
    throw ConfigError(fmt::format("{} regions were asked for; ask for 1 or more", regions));
  }
  const std::int64_t leaves = tree.count;
  const auto merges = static_cast<std::int64_t>(tree.merges.size());
  if (regions > leaves) {
    notes.push_back(
        fmt::format("{} regions were asked for, but the finest division of this image has {}.",
                    regions, leaves));
  } else if (regions < leaves - merges) {
    notes.push_back(
        fmt::format("{} regions were asked for, but the pixels with data lie in {} separate "
                    "pieces, so there are {}.",
                    regions, leaves - merges, leaves - merges));
  }
  return after_merges(
      tree, static_cast<std::size_t>(std::clamp<std::int64_t>(leaves - regions, 0, merges)));
}

/// The labels of the pixels from those of the leaves.
Labels of_pixels(const Labels& leaves, const LeafLabels& labels) {
  return {leaves.width, leaves.height, labels.count, relabelled(leaves.values, labels.of_leaf)};
}

}  // namespace

Labels cut(const Hierarchy& hierarchy, double threshold) {
  const std::vector<std::int32_t> leaf_of = same_leaves(hierarchy.leaves.count);
  const auto count = static_cast<std::int32_t>(hierarchy.leaves.count);
  return of_pixels(hierarchy.leaves, cut_at({leaf_of, count, hierarchy.merges}, threshold));
}

Labels cut_to_count(const Hierarchy& hierarchy, std::int64_t regions,
                    std::vector<std::string>& notes) {
  const std::vector<std::int32_t> leaf_of = same_leaves(hierarchy.leaves.count);
  const auto count = static_cast<std::int32_t>(hierarchy.leaves.count);
  return of_pixels(hierarchy.leaves,
                   cut_to_count({leaf_of, count, hierarchy.merges}, regions, notes));
}

LeafLabels cut_leaves(const LeafTree& all, const std::vector<std::int64_t>& sizes,
                      const std::function<std::vector<Border>()>& borders,
                      const RegionParameters& parameters, std::vector<std::string>& notes) {
  const std::int64_t least =
      least_pixels(parameters, std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}));
  LargeRegions large;
  if (least > 1) {
    large = large_regions(all.merges, borders(), sizes, least);
  } else {
    large.leaf_of = same_leaves(all.leaves);
  }
  const Tree tree = least > 1 ? Tree{large.leaf_of, large.count, large.merges}
                              : Tree{large.leaf_of, all.leaves, all.merges};
  if (parameters.regions > 0) {
    if (parameters.regions > tree.count && parameters.regions <= all.leaves) {
      notes.push_back(fmt::format(
          "{} regions were asked for, but there are {} of at least {} pixels: a smaller "
          "--min-size (region.min_size) gives more.",
          parameters.regions, tree.count, least));
      return after_merges(tree, 0);
    }
    return cut_to_count(tree, parameters.regions, notes);
  }
  const double threshold = parameters.threshold.value_or(all.threshold);
  LeafLabels labels = cut_at(tree, threshold);
  if (labels.count == 1 && !tree.merges.empty()) {
    notes.push_back(fmt::format(
        "There is one region: the strongest boundary in the picture is {:.2g}, and the threshold "
        "{:.2g}. A smaller --threshold (region.threshold), or --regions, gives more.",
        tree.merges.back().height, threshold));
  }
  return labels;
}

Labels cut(const Hierarchy& hierarchy, const RegionParameters& parameters,
           std::vector<std::string>& notes) {
  const LeafTree tree{static_cast<std::int32_t>(hierarchy.leaves.count), hierarchy.merges,
                      hierarchy.threshold};
  const auto borders = [&] { return find_borders(hierarchy.leaves); };
  return of_pixels(hierarchy.leaves,
                   cut_leaves(tree, region_sizes(hierarchy.leaves), borders, parameters, notes));
}

}  // namespace diacut
