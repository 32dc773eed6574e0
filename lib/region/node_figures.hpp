#pragma once

#include <cstdint>
#include <vector>

#include "diacut/hierarchy.hpp"

namespace diacut {

/// The figures of the nodes of a merge tree, by node; element 0 is no node.
struct NodeFigures {
  std::vector<std::int64_t> area;  ///< Pixels.
  /// Height of the merge that takes the node less the height of the one that made it, which is 0
  /// for a leaf. Negative for roots.
  std::vector<float> contrast;
};

/// The areas and the contrasts of all nodes.
/// @param hierarchy A hierarchy for which check() holds.
NodeFigures node_figures(const Hierarchy& hierarchy);

/// The solidity of each node: its area divided by the area of the convex hull of its pixels'
/// corners. Nodes of more than `most` pixels get 0, and so does element 0.
/// @param hierarchy A hierarchy for which check() holds.
/// @param area The area of each node.
/// @param most The greatest area of interest.
std::vector<double> node_solidity(const Hierarchy& hierarchy, const std::vector<std::int64_t>& area,
                                  std::int64_t most);

}  // namespace diacut
