#pragma once

#include "diacut/graph.hpp"
#include "graph/graph_levels.hpp"

namespace diacut {

/// Components, those with the larger sums of degrees first, dealt to `clusters` clusters: each to
/// that whose sum is the least so far.
GraphLabels labels_of_components(const Graph& graph, const GraphLevels& levels, int clusters);

/// Clusters by discretisation of the eigenvectors (discretise() in lib/region/region.hpp).
GraphLabels labels_of_vectors(const Graph& graph, GraphEigenvectors eigenvectors);

}  // namespace diacut
