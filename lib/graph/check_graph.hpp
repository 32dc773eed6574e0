#pragma once

#include "diacut/graph.hpp"

namespace diacut {

/// Throws InputError naming the first entry of a graph that is not as Graph says: no nodes, arrays
/// of wrong sizes, columns out of range or order, negative, infinite or NaN weights, a matrix that
/// is not symmetric.
void check_graph(const Graph& graph);

}  // namespace diacut
