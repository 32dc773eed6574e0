#include "region/common_ancestors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/connected_parts.hpp"
#include "diacut/errors.hpp"

namespace diacut {

CommonAncestors::CommonAncestors(const Hierarchy& hierarchy)
    : parent_(static_cast<std::size_t>(hierarchy.leaves.count) + 1), link_(parent_.size(), kNever) {
  const std::vector<Merge>& merges = hierarchy.merges;
  std::iota(parent_.begin(), parent_.end(), 0);
  // By node: a leaf that stands for it, and its number of leaves.
  std::vector<std::pair<std::int32_t, std::int32_t>> nodes;
  for (const std::int32_t leaf : parent_) nodes.emplace_back(leaf, 1);
  for (std::size_t k = 0; k < merges.size(); ++k) {
    auto [kept, size] = nodes[merges[k].first];
    auto [lost, lost_size] = nodes[merges[k].second];
    if (size < lost_size) std::swap(kept, lost);
    parent_[lost] = kept;
    link_[lost] = k;
    nodes.emplace_back(kept, size + lost_size);
  }
}

std::size_t CommonAncestors::merge_of(std::int32_t a, std::int32_t b) const {
  std::size_t merge = kNever;
  while (a != b) {
    if (link_[b] < link_[a]) std::swap(a, b);
    merge = link_[a];
    if (merge == kNever) break;
    a = parent_[a];
  }
  return merge;
}

namespace {

void check_leaves(const Labels& leaves) {
  if (leaves.width < 1 || leaves.height < 1 ||
      leaves.values.size() != static_cast<std::size_t>(leaves.width) * leaves.height) {
    throw InputError(fmt::format("{} x {} pixels have {} labels", leaves.width, leaves.height,
                                 leaves.values.size()));
  }
  // Parts are numbered as labels are to be: they are the same if each label is one part.
  const Labels parts = connected_parts(leaves.width, leaves.height, leaves.values);
  if (parts.count != leaves.count || parts.values != leaves.values) {
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

}  // namespace

void check(const Hierarchy& hierarchy) {
  check_leaves(hierarchy.leaves);
  check_merges(hierarchy);
  if (!(hierarchy.threshold >= 0 && hierarchy.threshold <= 1)) {
    throw InputError(
        fmt::format("the automatic threshold is {}, expected 0 to 1", hierarchy.threshold));
  }
  const CommonAncestors ancestors(hierarchy);
  std::vector<char> touching(hierarchy.merges.size(), 0);
  const std::vector<std::int32_t>& leaf = hierarchy.leaves.values;
  neighbour_pairs(hierarchy.leaves, [&](std::size_t i, std::size_t j) {
    if (leaf[i] == leaf[j] || leaf[i] == 0 || leaf[j] == 0) return;
    const std::size_t merge = ancestors.merge_of(leaf[i], leaf[j]);
    if (merge == CommonAncestors::kNever) {
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

std::vector<float> ultrametric_map(const Hierarchy& hierarchy) {
  const Labels& leaves = hierarchy.leaves;
  const auto width = static_cast<std::size_t>(leaves.width);
  const std::size_t row = 2 * width + 1;
  const std::size_t rows = 2 * static_cast<std::size_t>(leaves.height) + 1;
  std::vector<float> map(row * rows, 0.0F);
  const CommonAncestors ancestors(hierarchy);
  neighbour_pairs(leaves, [&](std::size_t i, std::size_t j) {
    const std::int32_t a = leaves.values[i];
    const std::int32_t b = leaves.values[j];
    if (a == b) return;
    const std::size_t pixel = (2 * (i / width) + 1) * row + 2 * (i % width) + 1;
    map[j - i == width ? pixel + row : pixel + 1] =
        a == 0 || b == 0 ? std::numeric_limits<float>::infinity()
                         : hierarchy.merges[ancestors.merge_of(a, b)].height;
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
