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

}  // namespace diacut
