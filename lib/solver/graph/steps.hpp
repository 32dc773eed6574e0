#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "diacut/eigenvectors.hpp"
#include "diacut/graph.hpp"
#include "graph/graph_levels.hpp"
#include "matrix/csr_matrix.hpp"
#include "opencl/context.hpp"

/// @file
/// The steps of GraphSolver beside the contraction of the graph.
namespace diacut {

/// A graph of entries in any order. Entries of one place are summed in that order; nothing of what
/// check_graph() checks is checked but the range of nodes.
Graph graph_of(std::size_t nodes, std::vector<MatrixEntry> entries);

/// Throws InputError naming the first entry of a graph that is not as Graph says: no nodes, arrays
/// of wrong sizes, columns out of range or order, negative, infinite or NaN weights, a matrix that
/// is not symmetric.
void check_graph(const Graph& graph);

/// The contractions of a graph. Throws as GraphSolver::eigenvectors() does.
GraphLevels graph_levels_for(const Graph& graph, const GraphParameters& parameters,
                             const Watch& watch, const char* wanted = "eigenvectors");

/// The eigenvectors of a contracted graph (GraphSolver::eigenvectors()): `nodes` is the number of
/// nodes of the graph, isolated ones included.
GraphEigenvectors graph_eigenvectors(Context& context, const GraphLevels& graph, std::size_t nodes,
                                     const GraphParameters& parameters, const Watch& watch);

/// Columns of the solver's blocks for that many vectors.
int graph_columns(int vectors);

struct GraphSolver::State : Context {
  using Context::Context;
};

}  // namespace diacut
