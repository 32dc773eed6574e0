#include <algorithm>
#include <utility>

#include "clusters/clusters.hpp"
#include "diacut/clusters.hpp"
#include "graph/steps.hpp"

namespace diacut {

namespace {

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
  result.labels = discretise(eigenvectors.vectors, eigenvectors.sqrt_degree);
  result.values = std::move(eigenvectors.values);
  result.report = std::move(eigenvectors.report);
  finish(graph, result);
  return result;
}

}  // namespace

GraphLabels spectral_clustering(GraphSolver& solver, const Graph& graph, int clusters,
                                const GraphParameters& parameters, const Watch& watch) {
  Context& context = solver.state();
  const Watched watched(context, watch);
  GraphParameters own = parameters;
  own.vectors = clusters;
  const GraphLevels levels = graph_levels_for(graph, own, watch, "clusters");
  if (levels.component_degrees.size() >= static_cast<std::size_t>(clusters)) {
    return labels_of_components(graph, levels, clusters);
  }
  return labels_of_vectors(graph, graph_eigenvectors(context, levels, graph.nodes(), own, watch));
}

}  // namespace diacut
