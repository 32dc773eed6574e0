#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

#include "diacut/errors.hpp"
#include "diacut/hierarchy.hpp"
#include "region/borders.hpp"
#include "region/least_pixels.hpp"
#include "region/meetings.hpp"
#include "region/parts.hpp"
#include "region/small_regions.hpp"

namespace diacut {

namespace {

void check_leaves(const Labels& leaves) {
  if (leaves.width < 1 || leaves.height < 1 ||
      leaves.values.size() !=
          static_cast<std::size_t>(leaves.width) * static_cast<std::size_t>(leaves.height)) {
    throw InputError(fmt::format("{} x {} pixels have {} labels", leaves.width, leaves.height,
                                 leaves.values.size()));
  }
  // Parts are numbered as labels are to be: they are the same if each label is one part.
  const Parts parts = connected_parts(leaves.width, leaves.height, leaves.values);
  if (parts.count != leaves.count || parts.of_pixel != leaves.values) {
    throw InputError(fmt::format(
        "the {} leaves are not numbered in scan order, each one 4-connected region", leaves.count));
  }
}

void check_merges(const Hierarchy& hierarchy) {
  const auto leaves = static_cast<std::size_t>(hierarchy.leaves.count);
  if (hierarchy.merges.size() > leaves) {
    throw InputError(fmt::format("{} merges of {} leaves", hierarchy.merges.size(), leaves));
  }
  std::vector<char> merged(leaves + 1 + hierarchy.merges.size(), 0);
  float height = 0;
  for (std::size_t k = 0; k < hierarchy.merges.size(); ++k) {
    const Merge& merge = hierarchy.merges[k];
    const auto node = static_cast<std::int64_t>(leaves + 1 + k);
    if (merge.first < 1 || merge.first >= merge.second || merge.second >= node) {
      throw InputError(
          fmt::format("merge {} joins nodes {} and {}, expected two of 1 to {} in order", k,
                      merge.first, merge.second, node - 1));
    }
    for (const std::int32_t child : {merge.first, merge.second}) {
      if (std::exchange(merged[child], 1) != 0) {
        throw InputError(fmt::format("merge {} joins node {}, which is merged already", k, child));
      }
    }
    if (!(merge.height >= height && merge.height <= 1)) {
      throw InputError(
          fmt::format("the height of merge {} is {}, expected {} to 1", k, merge.height, height));
    }
    height = merge.height;
  }
}

/// The leaves of a merge tree: those of a hierarchy, or some of these together.
struct Tree {
  const Labels& leaves;                      ///< Of the hierarchy.
  const std::vector<std::int32_t>& leaf_of;  ///< By leaf of the hierarchy, in scan order.
  std::int32_t count = 0;
  const std::vector<Merge>& merges;
};

/// The leaf of each leaf: itself.
std::vector<std::int32_t> same_leaves(const Hierarchy& hierarchy) {
  std::vector<std::int32_t> leaf_of(static_cast<std::size_t>(hierarchy.leaves.count) + 1);
  std::iota(leaf_of.begin(), leaf_of.end(), 0);
  return leaf_of;
}

Tree tree_of(const Hierarchy& hierarchy, const std::vector<std::int32_t>& leaf_of) {
  return {hierarchy.leaves, leaf_of, static_cast<std::int32_t>(hierarchy.leaves.count),
          hierarchy.merges};
}

/// The regions after the first `count` merges.
Labels after_merges(const Tree& tree, std::size_t count) {
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
  std::vector<std::int32_t> label_of(tree.leaf_of.size(), 0);
  Labels result{tree.leaves.width, tree.leaves.height, 0, {}};
  for (std::size_t leaf = 1; leaf < label_of.size(); ++leaf) {
    std::int32_t& mine = number[top[tree.leaf_of[leaf]]];
    if (mine == 0) mine = static_cast<std::int32_t>(++result.count);
    label_of[leaf] = mine;
  }
  result.values = relabelled(tree.leaves.values, label_of);
  return result;
}

Labels cut_at(const Tree& tree, double threshold) {
  const auto end = std::find_if_not(tree.merges.begin(), tree.merges.end(),
                                    [&](const Merge& merge) { return merge.height <= threshold; });
  return after_merges(tree, static_cast<std::size_t>(end - tree.merges.begin()));
}

Labels cut_to_count(const Tree& tree, std::int64_t regions, std::vector<std::string>& notes) {
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

}  // namespace

void check(const Hierarchy& hierarchy) {
  check_leaves(hierarchy.leaves);
  check_merges(hierarchy);
  if (!(hierarchy.threshold >= 0 && hierarchy.threshold <= 1)) {
    throw InputError(
        fmt::format("the automatic threshold is {}, expected 0 to 1", hierarchy.threshold));
  }
  const Meetings meetings(hierarchy);
  std::vector<char> touching(hierarchy.merges.size(), 0);
  const std::vector<std::int32_t>& leaf = hierarchy.leaves.values;
  neighbour_pairs(hierarchy.leaves, [&](std::size_t i, std::size_t j) {
    if (leaf[i] == leaf[j] || leaf[i] == 0 || leaf[j] == 0) return;
    const std::size_t merge = meetings.merge_of(leaf[i], leaf[j]);
    if (merge == Meetings::kNever) {
      throw InputError(fmt::format("leaves {} and {} touch but never merge", leaf[i], leaf[j]));
    }
    touching[merge] = 1;
  });
  const auto apart = std::find(touching.begin(), touching.end(), 0);
  if (apart != touching.end()) {
    throw InputError(fmt::format("merge {} joins regions that do not touch",
                                 std::distance(touching.begin(), apart)));
  }
}

Labels cut(const Hierarchy& hierarchy, double threshold) {
  const std::vector<std::int32_t> leaf_of = same_leaves(hierarchy);
  return cut_at(tree_of(hierarchy, leaf_of), threshold);
}

Labels cut_to_count(const Hierarchy& hierarchy, std::int64_t regions,
                    std::vector<std::string>& notes) {
  const std::vector<std::int32_t> leaf_of = same_leaves(hierarchy);
  return cut_to_count(tree_of(hierarchy, leaf_of), regions, notes);
}

Labels cut(const Hierarchy& hierarchy, const RegionParameters& parameters,
           std::vector<std::string>& notes) {
  const std::vector<std::int64_t> sizes = region_sizes(hierarchy.leaves);
  const std::int64_t least =
      least_pixels(parameters, std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}));
  LargeRegions large;
  if (least > 1) {
    large = large_regions(hierarchy, sizes, least);
  } else {
    large.leaf_of = same_leaves(hierarchy);
  }
  const Tree tree = least > 1 ? Tree{hierarchy.leaves, large.leaf_of, large.count, large.merges}
                              : tree_of(hierarchy, large.leaf_of);
  if (parameters.regions > 0) {
    if (parameters.regions > tree.count && parameters.regions <= hierarchy.leaves.count) {
      notes.push_back(fmt::format(
          "{} regions were asked for, but there are {} of at least {} pixels: a smaller "
          "--min-size (region.min_size) gives more.",
          parameters.regions, tree.count, least));
      return after_merges(tree, 0);
    }
    return cut_to_count(tree, parameters.regions, notes);
  }
  const double threshold = parameters.threshold.value_or(hierarchy.threshold);
  Labels labels = cut_at(tree, threshold);
  if (labels.count == 1 && !tree.merges.empty()) {
    notes.push_back(fmt::format(
        "There is one region: the strongest boundary in the picture is {:.2g}, and the threshold "
        "{:.2g}. A smaller --threshold (region.threshold), or --regions, gives more.",
        tree.merges.back().height, threshold));
  }
  return labels;
}

std::vector<float> ultrametric_map(const Hierarchy& hierarchy) {
  const Labels& leaves = hierarchy.leaves;
  const auto width = static_cast<std::size_t>(leaves.width);
  const std::size_t row = 2 * width + 1;
  const std::size_t rows = 2 * static_cast<std::size_t>(leaves.height) + 1;
  std::vector<float> map(row * rows, 0.0F);
  const Meetings meetings(hierarchy);
  neighbour_pairs(leaves, [&](std::size_t i, std::size_t j) {
    const std::int32_t a = leaves.values[i];
    const std::int32_t b = leaves.values[j];
    if (a == b) return;
    float height = std::numeric_limits<float>::infinity();
    if (a != 0 && b != 0) height = hierarchy.merges[meetings.merge_of(a, b)].height;
    const std::size_t pixel = (2 * (i / width) + 1) * row + 2 * (i % width) + 1;
    map[j - i == width ? pixel + row : pixel + 1] = height;
  });
  for (std::size_t y = 0; y < rows; y += 2) {
    for (std::size_t x = 0; x < row; x += 2) {
      float& crossing = map[y * row + x];
      if (y > 0) crossing = std::max(crossing, map[(y - 1) * row + x]);
      if (y + 1 < rows) crossing = std::max(crossing, map[(y + 1) * row + x]);
      if (x > 0) crossing = std::max(crossing, map[y * row + x - 1]);
      if (x + 1 < row) crossing = std::max(crossing, map[y * row + x + 1]);
    }
  }
  return map;
}

}  // namespace diacut
