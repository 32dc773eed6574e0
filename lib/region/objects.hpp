#pragma once

#include <cstdint>
#include <vector>

#include "diacut/hierarchy.hpp"

namespace diacut {

/// The nodes of a merge tree that do not overlap and whose scores have the greatest sum, by dynamic
/// programming: best(node) = max(score(node), best(first child) + best(second child)). A node that
/// scores as much as the best choice below it is chosen itself. Time and memory grow with the
/// nodes.
/// @param hierarchy A hierarchy for which check() holds.
/// @param score Of each node; element 0 is not used. Nodes of score 0 or less are never chosen.
/// @return The chosen nodes in ascending order.
std::vector<std::int32_t> best_nodes(const Hierarchy& hierarchy, const std::vector<double>& score);

/// Labels of chosen nodes in scan order, 0 elsewhere.
/// @param hierarchy A hierarchy for which check() holds.
/// @param nodes Nodes that do not overlap.
Labels labels_of_nodes(const Hierarchy& hierarchy, const std::vector<std::int32_t>& nodes);

}  // namespace diacut
