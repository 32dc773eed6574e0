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
/// Eigenvectors of the normalized cut of any weighted graph. Clusters: diacut/clusters.hpp.
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

/// Computes eigenvectors of graphs on one device. Not thread-safe: one object a thread.
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

  struct State;
  State& state() { return *state_; }  ///< For the library.

 private:
  std::unique_ptr<State> state_;
};

}  // namespace diacut
