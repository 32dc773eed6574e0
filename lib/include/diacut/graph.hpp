#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "diacut/device.hpp"
#include "diacut/eigenvectors.hpp"
#include "diacut/progress.hpp"

/// @file
/// Eigenvectors of the normalized cut of any weighted graph, and clusters of its nodes.
namespace diacut {

/// An undirected weighted graph, as its symmetric matrix W in CSR form: the entries of node i are
/// starts[i] to before starts[i + 1] of `columns` and `weights`.
///
/// Weights are finite and not negative; a weight of 0 is no edge. W_ij and W_ji are equal up to a
/// millionth of the larger one. An entry W_ii, a loop, counts in the degree of its node and in no
/// cut. A node whose degree, the sum of its row, is 0 is isolated: it belongs to no component, is 0
/// in every eigenvector and has no label.
struct Graph {
  std::vector<std::uint64_t> starts = {0};  ///< Nodes + 1 positions, ascending, the first one 0.
  std::vector<std::uint32_t> columns;       ///< Ascending in each row, each column once.
  std::vector<float> weights;               ///< Weight of each entry.

  /// Number of nodes.
  std::size_t nodes() const { return starts.size() - 1; }
};

/// Reads a graph from a sparse matrix that SciPy wrote (scipy.sparse.save_npz), of the formats csr,
/// csc and coo: indices of 32 or 64 bits, values that are booleans, integers or floats. Entries of
/// one place are summed. Columns are sorted. Throws InputError where the file cannot be read, is
/// damaged or is no such matrix, or the graph is not as diacut::Graph says.
Graph read_graph(const std::string& path);

/// How eigenvectors of a graph are computed.
struct GraphParameters {
  int vectors = 17;         ///< Including the eigenvalue 0; at most the number of nodes with edges.
  double tolerance = 1e-4;  ///< As EigenParameters::tolerance.
  int max_iterations = 200;  ///< Iterations on the graph itself after which the solver gives up.
  double relative_tolerance = 0;  ///< As EigenParameters::relative_tolerance.
};

/// Eigenvectors of the normalized cut of a graph, (D - W) y = lambda D y (J. Shi and J. Malik,
/// "Normalized cuts and image segmentation", 2000, equation 11), D being the diagonal matrix of the
/// degrees: z = D^1/2 y are eigenvectors of the normalized Laplacian I - D^-1/2 W D^-1/2 to the
/// same eigenvalues, from 0 to 2.
struct GraphEigenvectors {
  /// The eigenvalues lambda, ascending. As many are 0 as the graph has components, or all of them
  /// if there are more components.
  std::vector<double> values;
  /// vectors[k] is z for values[k]: one entry for each node, of unit norm, its entry of largest
  /// magnitude positive. The eigenvectors to the eigenvalue 0 are the square roots of the degrees
  /// of one component each, 0 elsewhere: components with the larger sums of degrees first.
  std::vector<std::vector<float>> vectors;
  std::vector<float> sqrt_degree;  ///< Square roots of the nodes' degrees: y = z / sqrt_degree.
  std::size_t components = 0;      ///< Connected components of the graph, without isolated nodes.
  std::size_t isolated = 0;        ///< Nodes of degree 0.
  /// Of the solver "multilevel", whose levels are the graph itself and its contractions, "dense" or
  /// "components".
  EigenReport report;
};

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

/// Computes eigenvectors and clusters of graphs on one device. Not thread-safe: one object a
/// thread.
class GraphSolver {
 public:
  /// Opens the device. `device`, `kernel_dir`: as Segmenter takes them. Throws ConfigError,
  /// DeviceError as choose_device() does.
  explicit GraphSolver(const std::string& device = {}, const std::string& kernel_dir = {});
  ~GraphSolver();
  GraphSolver(GraphSolver&& other) noexcept;  ///< Leaves `other` fit for destruction only.
  GraphSolver& operator=(GraphSolver&& other) noexcept;  ///< As that constructor.

  const DeviceInfo& device() const;  ///< The device that computes.

  /// Limits the device memory that the solver takes. `bytes`: the limit; 0: the device's own.
  void limit_device_memory(std::uint64_t bytes);

  /// The eigenvectors to the smallest eigenvalues. The same graph, parameters, device and driver
  /// give the same bytes. Where some miss the tolerance, report.converged is false. Throws
  /// InputError naming the first entry of the graph that is not as diacut::Graph says, and where no
  /// node has an edge; ConfigError where more vectors are asked for than nodes have edges, or a
  /// parameter is out of range; DeviceError where the graph does not fit the device; CancelledError
  /// when the watch says so.
  GraphEigenvectors eigenvectors(const Graph& graph, const GraphParameters& parameters = {},
                                 const Watch& watch = {});

  /// Clusters with a small normalized cut, from the first eigenvectors, one for each cluster (S. Yu
  /// and J. Shi, "Multiclass spectral clustering", 2003). A graph of as many components as clusters
  /// or more is divided between components: each one, those with the larger sums of degrees first,
  /// joins the cluster whose sum is the least so far. `clusters`: 1 to as many as nodes with edges.
  /// `parameters`: `vectors` is not used. Throws as eigenvectors() does.
  GraphLabels cluster(const Graph& graph, int clusters, const GraphParameters& parameters = {},
                      const Watch& watch = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Writes eigenvectors as a NumPy array of float32, (vectors, nodes). Throws ConfigError where the
/// extension is not .npy, InputError where the file cannot be written.
void write_graph_eigenvectors(const std::string& path, const GraphEigenvectors& eigenvectors);

/// As write_graph_eigenvectors(), of labels: int32, one for each node.
void write_graph_labels(const std::string& path, const GraphLabels& labels);

}  // namespace diacut
