#include "graph/graph_levels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/disjoint_sets.hpp"
#include "core/parallel.hpp"
#include "diacut/errors.hpp"

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
  std::vector<std::uint32_t> number(graph.nodes());
  for (std::size_t row = 0; row < graph.nodes(); ++row) {
    const auto begin = graph.weights.begin() + static_cast<std::ptrdiff_t>(graph.starts[row]);
    const auto end = graph.weights.begin() + static_cast<std::ptrdiff_t>(graph.starts[row + 1]);
    if (std::all_of(begin, end, [](float weight) { return !(weight > 0); })) continue;
    number[row] = static_cast<std::uint32_t>(origin.size());
    origin.push_back(static_cast<std::uint32_t>(row));
  }
  HostCsr result;
  for (const std::uint32_t row : origin) {
    for (std::uint64_t at = graph.starts[row]; at < graph.starts[row + 1]; ++at) {
      if (!(graph.weights[at] > 0)) continue;
      result.columns.push_back(number[graph.columns[at]]);
      result.values.push_back(graph.weights[at]);
    }
    result.starts.push_back(static_cast<std::uint32_t>(result.columns.size()));
  }
  return result;
}

HostCsr permuted(const HostCsr& weights, const std::vector<std::uint32_t>& order,
                 const std::vector<std::uint32_t>& rank) {
  HostCsr result;
  result.starts.reserve(weights.rows() + 1);
  result.columns.reserve(weights.columns.size());
  result.values.reserve(weights.values.size());
  for (const std::uint32_t old : order) {
    for (std::uint32_t at = weights.starts[old]; at < weights.starts[old + 1]; ++at) {
      result.columns.push_back(rank[weights.columns[at]]);
      result.values.push_back(weights.values[at]);
    }
    result.starts.push_back(static_cast<std::uint32_t>(result.columns.size()));
  }
  return result;
}

/// Renumbers the nodes of all levels but the last, by the new numbers of the nodes that they are
/// contracted to.
void renumber(GraphLevels& graph) {
  std::vector<std::uint32_t> coarse_rank(graph.levels.back().nodes());
  std::iota(coarse_rank.begin(), coarse_rank.end(), 0U);
  for (std::size_t k = graph.levels.size() - 1; k-- > 0;) {
    GraphLevel& level = graph.levels[k];
    for (std::uint32_t& node : level.coarse) node = coarse_rank[node];
    std::vector<std::uint32_t> order(level.nodes());  // By new number the old one.
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return level.coarse[a] < level.coarse[b];
    });
    std::vector<std::uint32_t> rank(level.nodes());
    for (std::uint32_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
    const auto reordered = [&](const auto& values) {
      auto result = values;
      for (std::size_t i = 0; i < order.size(); ++i) result[i] = values[order[i]];
      return result;
    };
    level.weights = permuted(level.weights, order, rank);
    level.degrees = reordered(level.degrees);
    level.coarse = reordered(level.coarse);
    if (k == 0) graph.origin = reordered(graph.origin);
    coarse_rank = std::move(rank);
  }
}

/// The least node of the component of each node: a contraction keeps components.
std::vector<std::uint32_t> roots_of(const HostCsr& weights) {
  DisjointSets sets(weights.rows());
  for (std::size_t i = 0; i < weights.rows(); ++i) {
    for (std::uint32_t at = weights.starts[i]; at < weights.starts[i + 1]; ++at) {
      sets.unite(static_cast<std::int32_t>(i), static_cast<std::int32_t>(weights.columns[at]));
    }
  }
  std::vector<std::uint32_t> roots(weights.rows());
  for (std::size_t i = 0; i < roots.size(); ++i) {
    roots[i] = static_cast<std::uint32_t>(sets.find(static_cast<std::int32_t>(i)));
  }
  return roots;
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

namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
/// The share of a node's largest weight from which on a neighbour is strong.
constexpr float kStrong = 0.25F;
/// Nodes that a thread takes at least.
constexpr std::size_t kRows = 1024;

float largest_weight(const HostCsr& weights, std::uint32_t row) {
  float largest = 0;
  for (std::uint32_t at = weights.starts[row]; at < weights.starts[row + 1]; ++at) {
    if (weights.columns[at] != row) largest = std::max(largest, weights.values[at]);
  }
  return largest;
}

/// Whether neither the node nor a strong neighbour is in an aggregate.
bool is_free(const HostCsr& weights, std::uint32_t row, float strong,
             const std::vector<std::uint32_t>& of_node) {
  for (std::uint32_t at = weights.starts[row]; at < weights.starts[row + 1]; ++at) {
    if (weights.values[at] >= strong && of_node[weights.columns[at]] != kNone) return false;
  }
  return true;
}

/// The aggregate of the strongest neighbour that has one, the first of equals.
std::uint32_t strongest_aggregate(const HostCsr& weights, std::uint32_t row,
                                  const std::vector<std::uint32_t>& of_node) {
  std::uint32_t result = kNone;
  float largest = 0;
  for (std::uint32_t at = weights.starts[row]; at < weights.starts[row + 1]; ++at) {
    const std::uint32_t found = of_node[weights.columns[at]];
    if (found == kNone || weights.values[at] <= largest) continue;
    largest = weights.values[at];
    result = found;
  }
  return result;
}

}  // namespace

Aggregates aggregate(const HostCsr& weights) {
  const auto rows = static_cast<std::uint32_t>(weights.rows());
  Aggregates result{std::vector<std::uint32_t>(rows, kNone), 0};
  for (std::uint32_t row = 0; row < rows; ++row) {
    if (result.of_node[row] != kNone) continue;
    const float strong = kStrong * largest_weight(weights, row);
    if (!is_free(weights, row, strong, result.of_node)) continue;
    const auto own = static_cast<std::uint32_t>(result.count++);
    for (std::uint32_t at = weights.starts[row]; at < weights.starts[row + 1]; ++at) {
      if (weights.values[at] >= strong) result.of_node[weights.columns[at]] = own;
    }
    result.of_node[row] = own;
  }
  const std::vector<std::uint32_t> before = result.of_node;
  parallel_ranges(rows, kRows, [&](std::size_t begin, std::size_t end) {
    for (auto row = static_cast<std::uint32_t>(begin); row < end; ++row) {
      if (before[row] == kNone) result.of_node[row] = strongest_aggregate(weights, row, before);
    }
  });
  return result;
}

HostCsr contract(const HostCsr& weights, const Aggregates& aggregates) {
  std::vector<std::uint32_t> nodes(weights.rows());  // One aggregate's after another's.
  std::iota(nodes.begin(), nodes.end(), 0U);
  std::stable_sort(nodes.begin(), nodes.end(), [&](std::uint32_t a, std::uint32_t b) {
    return aggregates.of_node[a] < aggregates.of_node[b];
  });
  HostCsr result;
  std::vector<std::uint32_t> place(aggregates.count, kNone);  // By column, in the row.
  std::vector<double> sums;
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    const std::uint32_t node = nodes[k];
    for (std::uint32_t at = weights.starts[node]; at < weights.starts[node + 1]; ++at) {
      const std::uint32_t column = aggregates.of_node[weights.columns[at]];
      if (place[column] == kNone) {
        place[column] = static_cast<std::uint32_t>(sums.size());
        result.columns.push_back(column);
        sums.push_back(0);
      }
      sums[place[column]] += static_cast<double>(weights.values[at]);
    }
    const bool last_of_row =
        k + 1 == nodes.size() || aggregates.of_node[nodes[k + 1]] != aggregates.of_node[node];
    if (!last_of_row) continue;
    for (std::size_t at = result.starts.back(); at < result.columns.size(); ++at) {
      place[result.columns[at]] = kNone;
    }
    result.values.insert(result.values.end(), sums.begin(), sums.end());
    result.starts.push_back(static_cast<std::uint32_t>(result.columns.size()));
    sums.clear();
  }
  return result;
}

}  // namespace diacut
