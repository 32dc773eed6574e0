#include "graph/graph_levels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/parallel.hpp"
#include "diacut/errors.hpp"
#include "graph/aggregates.hpp"

namespace diacut {

namespace {

/// Rows that a thread takes at least.
constexpr std::size_t kGraphLevelsRows = 4096;
/// A contraction is of use where at most this share of the nodes is left.
constexpr double kUseful = 0.8;

std::vector<double> row_sums(const HostCsr& weights) {
  std::vector<double> sums(weights.rows());
  parallel_ranges(sums.size(), kGraphLevelsRows, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      double sum = 0;
      for (std::uint32_t at = weights.starts[row]; at < weights.starts[row + 1]; ++at) {
        sum += static_cast<double>(weights.values[at]);
      }
      sums[row] = sum;
    }
  });
  return sums;
}

/// The graph without weights of 0 and without isolated nodes; `origin` gets the nodes left.
HostCsr without_isolated(const Graph& graph, std::vector<std::uint32_t>& origin) {
  constexpr auto kIsolated = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> number(graph.nodes(), kIsolated);
  HostCsr result;
  for (std::size_t row = 0; row < graph.nodes(); ++row) {
    const auto begin = graph.weights.begin() + static_cast<std::ptrdiff_t>(graph.starts[row]);
    const auto end = graph.weights.begin() + static_cast<std::ptrdiff_t>(graph.starts[row + 1]);
    const auto edges = static_cast<std::uint32_t>(
        std::count_if(begin, end, [](float weight) { return weight > 0; }));
    if (edges == 0) continue;
    number[row] = static_cast<std::uint32_t>(origin.size());
    origin.push_back(static_cast<std::uint32_t>(row));
    result.starts.push_back(result.starts.back() + edges);
  }
  result.columns.resize(result.starts.back());
  result.values.resize(result.starts.back());
  parallel_ranges(origin.size(), kGraphLevelsRows, [&](std::size_t first, std::size_t last) {
    for (std::size_t row = first; row < last; ++row) {
      std::uint32_t to = result.starts[row];
      const std::uint32_t from = origin[row];
      for (std::uint64_t at = graph.starts[from]; at < graph.starts[from + 1]; ++at) {
        if (!(graph.weights[at] > 0)) continue;
        result.columns[to] = number[graph.columns[at]];
        result.values[to++] = graph.weights[at];
      }
    }
  });
  return result;
}

/// Nodes in a new order: `order[new]` is the old number and `rank[old]` the new one.
struct Order {
  std::vector<std::uint32_t> order;
  std::vector<std::uint32_t> rank;
};

/// Nodes by the ranks of the nodes that they are contracted to.
Order order_by(const std::vector<std::uint32_t>& coarse,
               const std::vector<std::uint32_t>& coarse_rank) {
  std::vector<std::uint32_t> next(coarse_rank.size() + 1, 0);
  for (const std::uint32_t j : coarse) ++next[coarse_rank[j] + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  Order result{std::vector<std::uint32_t>(coarse.size()),
               std::vector<std::uint32_t>(coarse.size())};
  for (std::size_t i = 0; i < coarse.size(); ++i) {
    const std::uint32_t to = next[coarse_rank[coarse[i]]]++;
    result.rank[i] = to;
    result.order[to] = static_cast<std::uint32_t>(i);
  }
  return result;
}

HostCsr permuted(const HostCsr& weights, const Order& order) {
  HostCsr result;
  result.starts.reserve(weights.rows() + 1);
  for (const std::uint32_t old : order.order) {
    result.starts.push_back(result.starts.back() + weights.starts[old + 1] - weights.starts[old]);
  }
  result.columns.resize(weights.columns.size());
  result.values.resize(weights.values.size());
  parallel_ranges(weights.rows(), kGraphLevelsRows, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      std::uint32_t to = result.starts[row];
      const std::uint32_t old = order.order[row];
      for (std::uint32_t at = weights.starts[old]; at < weights.starts[old + 1]; ++at, ++to) {
        result.columns[to] = order.rank[weights.columns[at]];
        result.values[to] = weights.values[at];
      }
    }
  });
  return result;
}

/// Renumbers the nodes of all levels but the last.
void renumber(GraphLevels& graph) {
  Order coarse;
  coarse.rank.resize(graph.levels.back().nodes());
  std::iota(coarse.rank.begin(), coarse.rank.end(), 0U);
  for (std::size_t k = graph.levels.size() - 1; k-- > 0;) {
    GraphLevel& level = graph.levels[k];
    Order own = order_by(level.coarse, coarse.rank);
    level.weights = permuted(level.weights, own);
    std::vector<double> degrees(level.nodes());
    std::vector<std::uint32_t> to(level.nodes());
    for (std::size_t i = 0; i < degrees.size(); ++i) {
      degrees[i] = level.degrees[own.order[i]];
      to[i] = coarse.rank[level.coarse[own.order[i]]];
    }
    level.degrees = std::move(degrees);
    level.coarse = std::move(to);
    coarse = std::move(own);
  }
  if (coarse.order.empty()) return;
  std::vector<std::uint32_t> origin(graph.origin.size());
  for (std::size_t i = 0; i < origin.size(); ++i) origin[i] = graph.origin[coarse.order[i]];
  graph.origin = std::move(origin);
}

/// The least node of the component of each node: a contraction keeps components.
std::vector<std::uint32_t> roots_of(const HostCsr& weights) {
  std::vector<std::uint32_t> parent(weights.rows());
  std::iota(parent.begin(), parent.end(), 0U);
  const auto root = [&](std::uint32_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  };
  for (std::uint32_t i = 0; i < parent.size(); ++i) {
    for (std::uint32_t at = weights.starts[i]; at < weights.starts[i + 1]; ++at) {
      const std::uint32_t a = root(i);
      const std::uint32_t b = root(weights.columns[at]);
      parent[std::max(a, b)] = std::min(a, b);
    }
  }
  for (std::uint32_t i = 0; i < parent.size(); ++i) parent[i] = root(i);
  return parent;
}

void find_components(GraphLevels& graph) {
  std::vector<std::uint32_t> roots = roots_of(graph.levels.back().weights);
  const std::size_t last = graph.levels.back().nodes();
  for (std::size_t k = graph.levels.size() - 1; k-- > 0;) {
    std::vector<std::uint32_t> finer(graph.levels[k].nodes());
    for (std::size_t i = 0; i < finer.size(); ++i) finer[i] = roots[graph.levels[k].coarse[i]];
    roots = std::move(finer);
  }
  constexpr auto kUnknown = std::numeric_limits<std::uint32_t>::max();
  std::vector<double> sums(last, 0);
  std::vector<std::uint32_t> first(last, kUnknown);
  for (std::size_t i = 0; i < roots.size(); ++i) {
    sums[roots[i]] += graph.levels[0].degrees[i];
    first[roots[i]] = std::min(first[roots[i]], graph.origin[i]);
  }
  std::vector<std::uint32_t> order;
  for (std::uint32_t root = 0; root < last; ++root) {
    if (first[root] != kUnknown) order.push_back(root);
  }
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return sums[a] != sums[b] ? sums[a] > sums[b] : first[a] < first[b];
  });
  std::vector<std::uint32_t> number(last, 0);
  for (std::size_t k = 0; k < order.size(); ++k) {
    number[order[k]] = static_cast<std::uint32_t>(k);
    graph.component_degrees.push_back(sums[order[k]]);
  }
  for (std::uint32_t& root : roots) root = number[root];
  graph.component = std::move(roots);
}

void check_degrees(const GraphLevels& graph) {
  const double total =
      std::accumulate(graph.component_degrees.begin(), graph.component_degrees.end(), 0.0);
  if (total > static_cast<double>(std::numeric_limits<float>::max())) {
    throw InputError(fmt::format(
        "the graph's weights add up to {:.3g}, more than a float holds: divide them all by a "
        "number, which changes no eigenvector",
        total));
  }
}

}  // namespace

GraphLevels graph_levels(const Graph& graph, std::size_t enough, std::size_t least,
                         const Watch& watch) {
  GraphLevels result;
  HostCsr weights = without_isolated(graph, result.origin);
  if (result.origin.empty()) {
    throw InputError(
        "the graph has no edges: each of its weights is missing, 0, or too small for a float, "
        "which "
        "holds 1e-38 and more: multiplying all by a number changes no eigenvector");
  }
  std::vector<double> sums = row_sums(weights);
  result.levels.push_back({std::move(weights), std::move(sums), {}});
  while (result.levels.back().nodes() > enough) {
    watch.report("contracting the graph", 0);
    GraphLevel& fine = result.levels.back();
    Aggregates aggregates = aggregate(fine.weights);
    if (static_cast<double>(aggregates.count) > kUseful * static_cast<double>(fine.nodes())) break;
    if (aggregates.count < least && fine.nodes() <= kMostDenseNodes) break;
    HostCsr coarse = contract(fine.weights, aggregates);
    fine.coarse = std::move(aggregates.of_node);
    std::vector<double> degrees = row_sums(coarse);
    result.levels.push_back({std::move(coarse), std::move(degrees), {}});
  }
  renumber(result);
  find_components(result);
  check_degrees(result);
  return result;
}

HostCsr normalized(const GraphLevel& level) {
  std::vector<double> roots(level.nodes());
  for (std::size_t i = 0; i < roots.size(); ++i) roots[i] = 1 / std::sqrt(level.degrees[i]);
  HostCsr result{level.weights.starts, level.weights.columns,
                 std::vector<float>(level.weights.values.size())};
  parallel_ranges(level.nodes(), kGraphLevelsRows, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      for (std::uint32_t at = result.starts[row]; at < result.starts[row + 1]; ++at) {
        result.values[at] = static_cast<float>(static_cast<double>(level.weights.values[at]) *
                                               roots[row] * roots[result.columns[at]]);
      }
    }
  });
  return result;
}

HostCsr interpolation(const GraphLevel& fine, const GraphLevel& coarse) {
  HostCsr result{std::vector<std::uint32_t>(fine.nodes() + 1), fine.coarse,
                 std::vector<float>(fine.nodes())};
  std::iota(result.starts.begin(), result.starts.end(), 0U);
  for (std::size_t i = 0; i < fine.nodes(); ++i) {
    result.values[i] =
        static_cast<float>(std::sqrt(fine.degrees[i] / coarse.degrees[fine.coarse[i]]));
  }
  return result;
}

HostCsr restriction(const GraphLevel& fine, const GraphLevel& coarse) {
  HostCsr result = interpolation(fine, coarse);
  result.starts.assign(coarse.nodes() + 1, 0);
  // Nodes that are contracted to one node follow each other.
  for (const std::uint32_t j : fine.coarse) ++result.starts[j + 1];
  std::partial_sum(result.starts.begin(), result.starts.end(), result.starts.begin());
  std::iota(result.columns.begin(), result.columns.end(), 0U);
  return result;
}

}  // namespace diacut
