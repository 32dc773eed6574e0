#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/parallel.hpp"
#include "diacut/errors.hpp"
#include "graph/steps.hpp"

namespace diacut {

namespace {

/// The share of the larger weight by which W_ij and W_ji may differ: some roundings of a float.
constexpr float kAlike = 1e-6F;
/// Rows that a thread takes at least.
constexpr std::size_t kCheckGraphRows = 4096;

void check_shape(const Graph& graph) {
  if (graph.starts.empty() || graph.nodes() == 0) {
    throw InputError("the graph has no nodes: its matrix has to have a row for each node");
  }
  if (graph.nodes() >= std::numeric_limits<std::int32_t>::max()) {
    throw InputError(fmt::format("the graph has {} nodes; at most {} can be indexed", graph.nodes(),
                                 std::numeric_limits<std::int32_t>::max() - 1));
  }
  if (graph.columns.size() != graph.weights.size() || graph.starts.front() != 0 ||
      graph.starts.back() != graph.columns.size()) {
    throw InputError(fmt::format(
        "the graph's row starts run from {} to {}, but it has {} columns and {} "
        "weights: they have to begin at 0 and end at the number of both",
        graph.starts.front(), graph.starts.back(), graph.columns.size(), graph.weights.size()));
  }
  // Kernels count entries in 32 bits.
  if (graph.columns.size() >= std::numeric_limits<std::uint32_t>::max() - 4096) {
    throw InputError(fmt::format("the graph has {} entries; fewer than 2^32 are supported",
                                 graph.columns.size()));
  }
  for (std::size_t row = 0; row < graph.nodes(); ++row) {
    if (graph.starts[row] > graph.starts[row + 1]) {
      throw InputError(
          fmt::format("the graph's row {} begins at entry {} and ends at {}: row "
                      "starts have to ascend",
                      row, graph.starts[row], graph.starts[row + 1]));
    }
  }
}

void check_row(const Graph& graph, std::size_t row) {
  for (std::uint64_t at = graph.starts[row]; at < graph.starts[row + 1]; ++at) {
    const std::uint32_t column = graph.columns[at];
    const float weight = graph.weights[at];
    if (column >= graph.nodes()) {
      throw InputError(
          fmt::format("row {} of the graph has an entry in column {}, but there are "
                      "{} nodes: the matrix has to be square",
                      row, column, graph.nodes()));
    }
    if (at > graph.starts[row] && column <= graph.columns[at - 1]) {
      throw InputError(
          fmt::format("row {} of the graph has column {} after column {}: columns "
                      "have to ascend",
                      row, column, graph.columns[at - 1]));
    }
    if (!std::isfinite(weight) || weight < 0) {
      throw InputError(
          fmt::format("the graph's weight between nodes {} and {} is {}; weights have "
                      "to be finite and not negative",
                      row, column, weight));
    }
  }
}

float weight_of(const Graph& graph, std::size_t row, std::size_t column) {
  const auto begin = graph.columns.begin() + static_cast<std::ptrdiff_t>(graph.starts[row]);
  const auto end = graph.columns.begin() + static_cast<std::ptrdiff_t>(graph.starts[row + 1]);
  const auto found = std::lower_bound(begin, end, static_cast<std::uint32_t>(column));
  if (found == end || *found != column) return 0;
  return graph.weights[static_cast<std::size_t>(found - graph.columns.begin())];
}

void check_symmetry_of_row(const Graph& graph, std::size_t row) {
  for (std::uint64_t at = graph.starts[row]; at < graph.starts[row + 1]; ++at) {
    const float weight = graph.weights[at];
    const float other = weight_of(graph, graph.columns[at], row);
    if (std::abs(weight - other) <= kAlike * std::max(weight, other)) continue;
    throw InputError(fmt::format(
        "the graph is not symmetric: the weight from node {} to {} is {}, that from {} to {} is "
        "{}; give (W + W') / 2, or the larger of both",
        row, graph.columns[at], weight, graph.columns[at], row, other));
  }
}

}  // namespace

Graph graph_of(std::size_t nodes, std::vector<MatrixEntry> entries) {
  CsrMatrix matrix = csr_from_entries(nodes, nodes, std::move(entries), NonFinite::kTaken);
  return {std::move(matrix.starts), std::move(matrix.columns), std::move(matrix.values)};
}

void check_graph(const Graph& graph) {
  check_shape(graph);
  parallel_ranges(graph.nodes(), kCheckGraphRows, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) check_row(graph, row);
  });
  parallel_ranges(graph.nodes(), kCheckGraphRows, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) check_symmetry_of_row(graph, row);
  });
}

}  // namespace diacut
