#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diacut/graph.hpp"

/// @file
/// Clusters of a graph's nodes by normalized cuts, and files of graphs.
namespace diacut {

/// Reads a graph from a sparse matrix that SciPy wrote (scipy.sparse.save_npz), of the formats csr,
/// csc and coo: indices of 32 or 64 bits, values that are booleans, integers or floats. Entries of
/// one place are summed. Columns are sorted. Throws InputError where the file cannot be read, is
/// damaged or is no such matrix, or the graph is not as diacut::Graph says.
Graph read_graph(const std::string& path);

/// Clusters of a graph's nodes.
struct GraphLabels {
  /// One label for each node: 1 to `count`, numbered in the order of the nodes; 0 for isolated
  /// nodes. A cluster of a graph with fewer components than clusters need not be connected.
  std::vector<std::int32_t> labels;
  int count = 0;  ///< Clusters; discretisation may leave fewer than were asked for.
  /// Sum over the clusters of the weight that leaves a cluster divided by the sum of the cluster's
  /// degrees (Yu and Shi 2003).
  double normalized_cut = 0;
  std::vector<double> values;  ///< The eigenvalues of the eigenvectors that labels come from.
  EigenReport report;          ///< How those were found.
};

/// Clusters with a small normalized cut, from the first eigenvectors, one for each cluster (S. Yu
/// and J. Shi, "Multiclass spectral clustering", 2003). A graph of as many components as clusters
/// or more is divided between components: each one, those with the larger sums of degrees first,
/// joins the cluster whose sum is the least so far. `clusters`: 1 to as many as nodes with edges.
/// `parameters`: `vectors` is not used. Throws as GraphSolver::eigenvectors() does.
GraphLabels spectral_clustering(GraphSolver& solver, const Graph& graph, int clusters,
                                const GraphParameters& parameters = {}, const Watch& watch = {});

/// Writes eigenvectors as a NumPy array of float32, (vectors, nodes). Throws ConfigError where the
/// extension is not .npy, InputError where the file cannot be written.
void write_graph_eigenvectors(const std::string& path, const GraphEigenvectors& eigenvectors);

/// As write_graph_eigenvectors(), of labels: int32, one for each node.
void write_graph_labels(const std::string& path, const GraphLabels& labels);

}  // namespace diacut
