#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "diacut/hierarchy.hpp"
#include "diacut/seeds.hpp"
#include "region/cuts/leaf_cut.hpp"

namespace diacut {

namespace {

/// What stands for the labels of a node that holds several.
constexpr std::int32_t kSeveral = -1;

std::int32_t joined(std::int32_t a, std::int32_t b) {
  if (a == 0 || a == b) return b;
  return b == 0 ? a : kSeveral;
}

struct LeafSeeds {
  std::vector<std::int32_t> label;  ///< By leaf: that of most of its seeds, 0 if it has none.
  std::int64_t mixed = 0;           ///< Leaves that hold seeds of several labels.
};

LeafSeeds leaf_seeds(const Labels& leaves, const Seeds& seeds) {
  std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> counts;  // Of a leaf and a label.
  for (std::size_t i = 0; i < seeds.labels.size(); ++i) {
    if (seeds.labels[i] != 0) ++counts[{leaves.values[i], seeds.labels[i]}];
  }
  const std::size_t size = static_cast<std::size_t>(leaves.count) + 1;
  LeafSeeds result{std::vector<std::int32_t>(size, 0), 0};
  std::vector<std::int64_t> most(size, 0);
  std::int32_t last_mixed = 0;
  for (const auto& [of, count] : counts) {
    const auto [leaf, label] = of;
    const auto at = static_cast<std::size_t>(leaf);
    if (most[at] > 0 && std::exchange(last_mixed, leaf) != leaf) ++result.mixed;
    if (count <= most[at]) continue;
    most[at] = count;
    result.label[at] = label;
  }
  return result;
}

/// By node the label of its seeds: 0 for none, or kSeveral. Index 0 is not used.
std::vector<std::int32_t> node_labels(const Hierarchy& hierarchy,
                                      const std::vector<std::int32_t>& of_leaf) {
  std::vector<std::int32_t> label = of_leaf;
  for (const Merge& merge : hierarchy.merges) {
    label.push_back(joined(label[merge.first], label[merge.second]));
  }
  return label;
}

/// The nodes that hold at most one label, and whose parents hold several.
std::vector<std::int32_t> largest_nodes(const Hierarchy& hierarchy,
                                        const std::vector<std::int32_t>& label) {
  std::vector<char> whole(label.size(), 1);  // Whether it is not within another such node.
  const auto first_merge = static_cast<std::size_t>(hierarchy.leaves.count) + 1;
  for (std::size_t k = 0; k < hierarchy.merges.size(); ++k) {
    if (label[first_merge + k] == kSeveral) continue;
    whole[hierarchy.merges[k].first] = 0;
    whole[hierarchy.merges[k].second] = 0;
  }
  std::vector<std::int32_t> nodes;
  for (std::size_t node = 1; node < label.size(); ++node) {
    if (whole[node] != 0 && label[node] != kSeveral) {
      nodes.push_back(static_cast<std::int32_t>(node));
    }
  }
  return nodes;
}

void add_notes(const SeededRegions& found, std::int64_t mixed, std::vector<std::string>& notes) {
  if (mixed > 0) {
    notes.push_back(fmt::format(
        "{} region{} of the finest division hold{} seeds of several labels and cannot be divided: "
        "each has the label of most of its seeds. The random walker would divide it.",
        mixed, mixed == 1 ? "" : "s", mixed == 1 ? "s" : ""));
  }
  const auto none = std::count(found.seed_labels.begin(), found.seed_labels.end(), 0);
  if (none > 0) {
    notes.push_back(fmt::format("{} of {} regions hold no seed: they have the label 0.", none,
                                found.seed_labels.size()));
  }
}

}  // namespace

SeededRegions cut_by_seeds(const Hierarchy& hierarchy, const Seeds& seeds,
                           std::vector<std::string>& notes) {
  const Labels& leaves = hierarchy.leaves;
  std::vector<std::uint8_t> valid(leaves.values.size());
  std::transform(leaves.values.begin(), leaves.values.end(), valid.begin(),
                 [](std::int32_t leaf) { return static_cast<std::uint8_t>(leaf != 0 ? 1 : 0); });
  check_seeds(seeds, leaves.width, leaves.height, valid);
  const LeafSeeds of_leaves = leaf_seeds(leaves, seeds);
  const std::vector<std::int32_t> label = node_labels(hierarchy, of_leaves.label);
  SeededRegions found{labels_of_nodes(hierarchy, largest_nodes(hierarchy, label)), {}};
  found.seed_labels.assign(static_cast<std::size_t>(found.regions.count), 0);
  for (std::size_t i = 0; i < leaves.values.size(); ++i) {
    const std::int32_t leaf = of_leaves.label[leaves.values[i]];
    if (leaf != 0) found.seed_labels[static_cast<std::size_t>(found.regions.values[i]) - 1] = leaf;
  }
  add_notes(found, of_leaves.mixed, notes);
  return found;
}

}  // namespace diacut
