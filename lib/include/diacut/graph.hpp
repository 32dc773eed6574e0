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

/// An undirected graph with weights, as its symmetric matrix W by rows (CSR): node i has the
/// entries starts[i] to starts[i + 1] of `columns` and `weights`.
///
/// Weights are finite and not negative; a weight of 0 is no edge. W_ij and W_ji are equal up to a
/// millionth of the larger one. An entry W_ii, a loop, counts in the degree of its node and in no
/// cut. A node whose degree, the sum of its row, is 0 is isolated: it belongs to no component, is 0
/// in every eigenvector and has no label.
struct Graph {
  std::vector<std::uint64_t> starts = {0};  ///< Nodes + 1 positions, ascending, the first one 0.
  std::vector<std::uint32_t> columns;       ///< Of each row ascending, each column once.
  std::vector<float> weights;               ///< As many as `columns`.

  /// Nodes of the graph.
  std::size_t nodes() const { return starts.size() - 1; }
};

/// Checks that a graph is what the comment of diacut::Graph asks for. Throws InputError naming the
/// first entry that is not, and what was expected: no nodes, arrays of wrong sizes, columns out of
/// range or order, negative, infinite or NaN weights, a matrix that is not symmetric.
void check_graph(const Graph& graph);

/// Reads a graph from a sparse matrix that SciPy wrote (scipy.sparse.save_npz), of the formats csr,
/// csc and coo: indices of 32 or 64 bits, values that are booleans, integers or floats. Entries of
/// one place are summed. Columns are sorted. `path`: the file, with the extension .npz by custom.
/// Throws InputError where the file cannot be read, is damaged or cut off, holds more than its
/// header says, or is no such matrix, and as check_graph() does.
Graph read_graph(const std::string& path);

/// How eigenvectors of a graph are computed.
struct GraphParameters {
  /// Eigenvectors, with those to the eigenvalue 0. At most as many as nodes with edges.
  int vectors = 17;
  /// Residual norm |A x - theta x| at which an eigenvector counts as converged. The norm of A is 1.
  double tolerance = 1e-4;
  /// Iterations on the graph itself after which the solver gives up.
  int max_iterations = 200;
  /// As EigenParameters::relative_tolerance.
  double relative_tolerance = 0;
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
  /// Square roots of the degrees, one for each node: y = z / sqrt_degree.
  std::vector<float> sqrt_degree;
  std::size_t components = 0;  ///< Connected components of the graph, without isolated nodes.
  std::size_t isolated = 0;    ///< Nodes of degree 0.
  /// How the eigenvectors were found. Solver "multilevel" has levels, the graph itself and its
  /// contractions; "dense" and "components" have none.
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
  /// Opens the device. `device`: as choose_device() takes it. `kernel_dir`: a folder of
  /// kernels in place of the built-in ones; empty: none. Throws ConfigError, DeviceError as
  /// choose_device() does.
  explicit GraphSolver(const std::string& device = {}, const std::string& kernel_dir = {});
  ~GraphSolver();
  /// Takes over another object, of which nothing but its destructor may be called afterwards.
  GraphSolver(GraphSolver&& other) noexcept;
  /// As that constructor.
  GraphSolver& operator=(GraphSolver&& other) noexcept;

  /// The device that computes.
  const DeviceInfo& device() const;

  /// Limits the device memory that the solver takes. `bytes`: the limit; 0: the device's own.
  void limit_device_memory(std::uint64_t bytes);

  /// The eigenvectors to the smallest eigenvalues. The same graph, parameters, device and driver
  /// give the same bytes. `parameters`: how many, and how good. Returns the eigenvectors. Where
  /// some miss the tolerance, report.converged is false. Throws InputError as check_graph() does,
  /// and where no node has an edge. Throws ConfigError where more vectors are asked for than nodes
  /// have edges, or a parameter is out of range. Throws DeviceError where the graph does not fit
  /// the device. Throws CancelledError when the watch says so.
  GraphEigenvectors eigenvectors(const Graph& graph, const GraphParameters& parameters = {},
                                 const Watch& watch = {});

  /// Clusters with a small normalized cut, from the first eigenvectors, one for each cluster (S. Yu
  /// and J. Shi, "Multiclass spectral clustering", 2003). A graph of as many components as clusters
  /// or more is divided between components: each one, those with the larger sums of degrees first,
  /// joins the cluster whose sum is the least so far. `clusters`: how many clusters: 1 or more, at
  /// most as many as nodes with edges. `parameters`: how good eigenvectors have to be; `vectors` is
  /// not used. Throws InputError, ConfigError, DeviceError, CancelledError as eigenvectors() does.
  GraphLabels cluster(const Graph& graph, int clusters, const GraphParameters& parameters = {},
                      const Watch& watch = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Checks the name of a file for eigenvectors or labels of a graph. Throws ConfigError where its
/// extension is not .npy.
void check_graph_file(const std::string& path);

/// Writes eigenvectors as a NumPy array of float32, (vectors, nodes), a row for each. `path`: the
/// file, .npy. Throws ConfigError as check_graph_file() does, InputError where the file cannot be
/// written.
void write_graph_eigenvectors(const std::string& path, const GraphEigenvectors& eigenvectors);

/// Writes labels as a NumPy array of int32, one for each node. The file ends in .npy. Throws
/// ConfigError as check_graph_file() does, InputError where the file cannot be written.
void write_graph_labels(const std::string& path, const GraphLabels& labels);

/// What a report tells of a graph and of what was computed. `eigenvectors`: its eigenvectors, or
/// null. `labels`: its clusters, or null. Returns a JSON object, with a line feed at the end.
std::string graph_json(const Graph& graph, const GraphEigenvectors* eigenvectors,
                       const GraphLabels* labels, const DeviceInfo& device, double milliseconds);

}  // namespace diacut
