#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "diacut/errors.hpp"
#include "diacut/graph.hpp"
#include "graph/steps.hpp"

namespace diacut {

namespace {

/// Graphs of at most this many nodes are solved densely, and so are the last contractions.
constexpr std::size_t kDenseNodes = 300;
/// More vectors at once take too long: the small problems grow with the third power.
constexpr int kMostVectors = 1000;

void check_parameters(const GraphParameters& parameters) {
  if (parameters.vectors < 1 || parameters.vectors > kMostVectors) {
    throw ConfigError(fmt::format("{} eigenvectors are asked for, expected 1 to {}",
                                  parameters.vectors, kMostVectors));
  }
  if (!(parameters.tolerance > 0 && parameters.tolerance <= 1)) {
    throw ConfigError(
        fmt::format("the tolerance of eigenvectors is {}, expected more than 0 and "
                    "at most 1",
                    parameters.tolerance));
  }
  if (!(parameters.relative_tolerance >= 0 && parameters.relative_tolerance <= 1)) {
    throw ConfigError(fmt::format("the relative tolerance of eigenvectors is {}, expected 0 to 1",
                                  parameters.relative_tolerance));
  }
  if (parameters.max_iterations < 1) {
    throw ConfigError(fmt::format("at most {} iterations are asked for, expected 1 or more",
                                  parameters.max_iterations));
  }
}

/// Renumbers labels in the order of the nodes, and measures the cut.
void finish(const Graph& graph, GraphLabels& result) {
  const std::int32_t most = *std::max_element(result.labels.begin(), result.labels.end());
  std::vector<std::int32_t> number(static_cast<std::size_t>(most) + 1, 0);
  for (std::int32_t& label : result.labels) {
    if (label == 0) continue;
    std::int32_t& own = number[static_cast<std::size_t>(label)];
    if (own == 0) own = ++result.count;
    label = own;
  }
  const auto count = static_cast<std::size_t>(result.count);
  std::vector<double> cuts(count + 1, 0);
  std::vector<double> degrees(count + 1, 0);
  for (std::size_t i = 0; i < graph.nodes(); ++i) {
    const auto own = static_cast<std::size_t>(result.labels[i]);
    for (std::uint64_t at = graph.starts[i]; at < graph.starts[i + 1]; ++at) {
      const auto weight = static_cast<double>(graph.weights[at]);
      degrees[own] += weight;
      if (result.labels[graph.columns[at]] != result.labels[i]) cuts[own] += weight;
    }
  }
  for (std::size_t k = 1; k <= count; ++k) result.normalized_cut += cuts[k] / degrees[k];
}

/// Components, those with the larger sums of degrees first, dealt to `clusters` clusters: each to
/// that whose sum is the least so far.
GraphLabels labels_of_components(const Graph& graph, const GraphLevels& levels, int clusters) {
  GraphLabels result;
  result.labels.assign(graph.nodes(), 0);
  result.values.assign(static_cast<std::size_t>(clusters), 0);
  result.report.solver = "components";
  result.report.matvec = "graph";
  result.report.converged = true;
  result.report.residuals = result.values;
  result.report.resolution.resize(result.values.size());
  std::vector<double> sums(static_cast<std::size_t>(clusters), 0);
  std::vector<std::int32_t> cluster;
  for (const double degrees : levels.component_degrees) {
    const auto least = std::min_element(sums.begin(), sums.end());
    *least += degrees;
    cluster.push_back(static_cast<std::int32_t>(least - sums.begin()) + 1);
  }
  for (std::size_t i = 0; i < levels.nodes(); ++i) {
    result.labels[levels.origin[i]] = cluster[levels.component[i]];
  }
  finish(graph, result);
  return result;
}

/// Clusters by discretisation of the eigenvectors (discretise()).
GraphLabels labels_of_vectors(const Graph& graph, GraphEigenvectors eigenvectors) {
  GraphLabels result;
  result.values = std::move(eigenvectors.values);
  result.report = std::move(eigenvectors.report);
  Eigenvectors plain;
  plain.width = static_cast<int>(graph.nodes());
  plain.height = 1;
  plain.vectors = std::move(eigenvectors.vectors);
  plain.sqrt_degree = std::move(eigenvectors.sqrt_degree);
  result.labels = discretise(plain, static_cast<int>(plain.vectors.size()));
  finish(graph, result);
  return result;
}

}  // namespace

/// A graph of too few nodes for the blocks of the multilevel solver stays one level.
GraphLevels graph_levels_for(const Graph& graph, const GraphParameters& parameters,
                             const Watch& watch, const char* wanted) {
  check_parameters(parameters);
  check_graph(graph);
  const auto least = 3 * static_cast<std::size_t>(graph_columns(parameters.vectors));
  GraphLevels levels = graph_levels(graph, std::max(kDenseNodes, least), least, watch);
  if (levels.nodes() < static_cast<std::size_t>(parameters.vectors)) {
    throw ConfigError(
        fmt::format("{} {} are asked for, but only {} nodes of the graph have edges: "
                    "ask for at most {}",
                    parameters.vectors, wanted, levels.nodes(), levels.nodes()));
  }
  return levels;
}

struct GraphSolver::State : Context {
  using Context::Context;
};

GraphSolver::GraphSolver(const std::string& device, const std::string& kernel_dir)
    : state_(std::make_unique<State>(device, kernel_dir)) {}
GraphSolver::~GraphSolver() = default;
GraphSolver::GraphSolver(GraphSolver&& other) noexcept = default;
GraphSolver& GraphSolver::operator=(GraphSolver&& other) noexcept = default;

const DeviceInfo& GraphSolver::device() const { return state_->info(); }

void GraphSolver::limit_device_memory(std::uint64_t bytes) { state_->limit_memory(bytes); }

GraphEigenvectors GraphSolver::eigenvectors(const Graph& graph, const GraphParameters& parameters,
                                            const Watch& watch) {
  const Watched watched(*state_, watch);
  const GraphLevels levels = graph_levels_for(graph, parameters, watch);
  return graph_eigenvectors(*state_, levels, graph.nodes(), parameters, watch);
}

GraphLabels GraphSolver::cluster(const Graph& graph, int clusters,
                                 const GraphParameters& parameters, const Watch& watch) {
  const Watched watched(*state_, watch);
  GraphParameters own = parameters;
  own.vectors = clusters;
  const GraphLevels levels = graph_levels_for(graph, own, watch, "clusters");
  if (levels.component_degrees.size() >= static_cast<std::size_t>(clusters)) {
    return labels_of_components(graph, levels, clusters);
  }
  return labels_of_vectors(graph, graph_eigenvectors(*state_, levels, graph.nodes(), own, watch));
}

}  // namespace diacut
