#pragma once

#include "diacut/graph.hpp"
#include "graph/graph_levels.hpp"
#include "opencl/context.hpp"

namespace diacut {

/// The eigenvectors of a contracted graph (GraphSolver::eigenvectors()): `nodes` is the number of
/// nodes of the graph, isolated ones included.
GraphEigenvectors graph_eigenvectors(Context& context, const GraphLevels& graph, std::size_t nodes,
                                     const GraphParameters& parameters, const Watch& watch);

/// Columns of the solver's blocks for that many vectors.
int graph_columns(int vectors);

}  // namespace diacut
