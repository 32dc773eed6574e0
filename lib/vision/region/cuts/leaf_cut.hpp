#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "diacut/hierarchy.hpp"
#include "diacut/parameters.hpp"
#include "region/arcs/borders.hpp"

namespace diacut {

/// A hierarchy without its pixels.
struct LeafTree {
  std::int32_t leaves = 0;
  const std::vector<Merge>& merges;  ///< As Hierarchy::merges.
  double threshold = 0;              ///< As Hierarchy::threshold.
};

/// A label for each leaf, as a cut gives it to the leaf's pixels. Element 0 is 0.
struct LeafLabels {
  std::int64_t count = 0;
  std::vector<std::int32_t> of_leaf;
  /// By label from 1 on: the node of the tree that it stands for.
  std::vector<std::int32_t> nodes;
};

/// The labels after the first `count` merges.
LeafLabels labels_after(std::int32_t leaves, const std::vector<Merge>& merges, std::size_t count);

/// cut(hierarchy, parameters, notes) for a hierarchy without its pixels. `sizes`: region_sizes() of
/// the leaves. `borders`: gives find_borders() of the leaves; called where there is a least size.
LeafLabels cut_leaves(const LeafTree& tree, const std::vector<std::int64_t>& sizes,
                      const std::function<std::vector<Border>()>& borders,
                      const RegionParameters& parameters, std::vector<std::string>& notes);

/// Labels of chosen nodes in scan order, 0 elsewhere.
/// @param hierarchy A hierarchy for which check() holds.
/// @param nodes Nodes that do not overlap.
Labels labels_of_nodes(const Hierarchy& hierarchy, const std::vector<std::int32_t>& nodes);

/// parameters.min_size in pixels, for a picture in which `pixels` pixels have data.
std::int64_t least_pixels(const RegionParameters& parameters, std::int64_t pixels);

}  // namespace diacut
