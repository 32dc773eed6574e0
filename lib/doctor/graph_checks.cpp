// The eigenvectors of a graph.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "doctor/checks.hpp"
#include "graph/graph_eigenvectors.hpp"

namespace diacut {

namespace {

constexpr std::uint32_t kNodes = 2000;

/// A cycle of nodes, each of which is also tied to the one after the next, by half the weight.
Graph tied_cycle() {
  Graph graph;
  for (std::uint32_t i = 0; i < kNodes; ++i) {
    std::vector<std::pair<std::uint32_t, float>> row;
    for (const std::uint32_t step : {1U, 2U}) {
      const float weight = 1.0F / static_cast<float>(step);
      row.emplace_back((i + step) % kNodes, weight);
      row.emplace_back((i + kNodes - step) % kNodes, weight);
    }
    std::sort(row.begin(), row.end());
    for (const auto& [column, weight] : row) {
      graph.columns.push_back(column);
      graph.weights.push_back(weight);
    }
    graph.starts.push_back(graph.columns.size());
  }
  return graph;
}

/// With t = 2 pi wave / nodes the eigenvalues of its normalized Laplacian are
/// 1 - (2 cos t + cos 2t) / 3, those of all waves but the first one twice.
void eigenvectors_of_a_cycle(Trial& trial) {
  GraphParameters parameters;
  parameters.vectors = 9;
  parameters.tolerance = 1e-5;
  const Graph graph = tied_cycle();
  const auto least = 3 * static_cast<std::size_t>(graph_columns(parameters.vectors));
  const GraphEigenvectors found = graph_eigenvectors(
      trial.context(), graph_levels(graph, 300, least, {}), kNodes, parameters, {});
  Trial::require(found.report.converged, "the eigenvectors do not converge");
  for (std::size_t k = 0; k < found.values.size(); ++k) {
    const double t = 2 * std::numbers::pi * static_cast<double>((k + 1) / 2) / kNodes;
    trial.expect_one("eigenvalue", found.values[k], 1 - (2 * std::cos(t) + std::cos(2 * t)) / 3,
                     1e-6);
    // All degrees are 3, so that the residual is that of W / 3.
    double square = 0;
    double norm = 0;
    const std::vector<float>& vector = found.vectors[k];
    for (std::size_t i = 0; i < kNodes; ++i) {
      double product = 0;
      for (std::uint64_t e = graph.starts[i]; e < graph.starts[i + 1]; ++e) {
        product += static_cast<double>(graph.weights[e]) / 3 * vector[graph.columns[e]];
      }
      square += std::pow(product - (1 - found.values[k]) * vector[i], 2);
      norm += static_cast<double>(vector[i]) * vector[i];
    }
    trial.expect_one("residual norm", std::sqrt(square / norm), 0, 2 * parameters.tolerance);
  }
}

}  // namespace

std::vector<DeviceCheck> graph_checks() {
  return {{"eigenvectors of a graph", eigenvectors_of_a_cycle}};
}

}  // namespace diacut
