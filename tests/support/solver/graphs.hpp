#pragma once

#include <cstddef>
#include <vector>

#include "diacut/graph.hpp"

namespace diacut::testing {

struct Edge {
  std::size_t a = 0;
  std::size_t b = 0;
  float weight = 1;
};

/// A graph of edges, each given once. An edge from a node to itself is a loop.
Graph graph_of(std::size_t nodes, const std::vector<Edge>& edges);

/// The nodes i < j are tied where `is_tied(i, j)`.
template <class IsTied>
Graph tied_graph(std::size_t nodes, const IsTied& is_tied) {
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < nodes; ++i) {
    for (std::size_t j = i + 1; j < nodes; ++j) {
      if (is_tied(i, j)) edges.push_back({i, j});
    }
  }
  return graph_of(nodes, edges);
}

Graph path_graph(std::size_t nodes);
/// Rows and columns of nodes, with weights exp(-u), u even in [0, 4).
Graph grid_graph(std::size_t width, std::size_t height, unsigned seed = 1);
/// Each node with some random nodes before it: connected.
Graph random_graph(std::size_t nodes, std::size_t edges_each, unsigned seed = 1);
/// Both graphs, without an edge between them.
Graph joined(const Graph& a, const Graph& b);

/// The eigenvalues of I - A, ascending, by Eigen in double.
std::vector<double> dense_eigenvalues(const Graph& graph);

/// The largest |x_i' x_j - delta_ij|.
double orthogonality_error(const GraphEigenvectors& eigenvectors);

}  // namespace diacut::testing
