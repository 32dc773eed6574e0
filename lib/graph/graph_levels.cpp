#include "graph/graph_levels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

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

namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
/// The share of a node's largest weight from which on a neighbour is strong.
constexpr float kStrong = 0.25F;
/// Coarse nodes that a thread takes at least.
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

/// The nodes of each aggregate: those of aggregate J are nodes[starts[J]] to nodes[starts[J + 1]].
struct Members {
  std::vector<std::uint32_t> starts;
  std::vector<std::uint32_t> nodes;
};

Members members_of(const Aggregates& aggregates) {
  Members members{std::vector<std::uint32_t>(aggregates.count + 1, 0),
                  std::vector<std::uint32_t>(aggregates.of_node.size())};
  for (const std::uint32_t j : aggregates.of_node) ++members.starts[j + 1];
  for (std::size_t j = 0; j < aggregates.count; ++j) members.starts[j + 1] += members.starts[j];
  std::vector<std::uint32_t> next(members.starts.begin(), members.starts.end() - 1);
  for (std::size_t i = 0; i < aggregates.of_node.size(); ++i) {
    members.nodes[next[aggregates.of_node[i]]++] = static_cast<std::uint32_t>(i);
  }
  return members;
}

/// The rows of a range of aggregates.
struct Part {
  std::vector<std::uint32_t> lengths;
  std::vector<std::uint32_t> columns;
  std::vector<float> values;
};

Part contracted_rows(const HostCsr& weights, const Aggregates& aggregates, const Members& members,
                     const IndexRange& range) {
  Part part;
  std::vector<std::uint32_t> place(aggregates.count, kNone);
  std::vector<double> sums;
  for (std::size_t j = range.begin; j < range.end; ++j) {
    const std::size_t first = part.columns.size();
    sums.clear();
    for (std::uint32_t k = members.starts[j]; k < members.starts[j + 1]; ++k) {
      const std::uint32_t node = members.nodes[k];
      for (std::uint32_t at = weights.starts[node]; at < weights.starts[node + 1]; ++at) {
        const std::uint32_t column = aggregates.of_node[weights.columns[at]];
        if (place[column] == kNone) {
          place[column] = static_cast<std::uint32_t>(sums.size());
          part.columns.push_back(column);
          sums.push_back(0);
        }
        sums[place[column]] += static_cast<double>(weights.values[at]);
      }
    }
    for (std::size_t at = first; at < part.columns.size(); ++at) place[part.columns[at]] = kNone;
    for (const double sum : sums) part.values.push_back(static_cast<float>(sum));
    part.lengths.push_back(static_cast<std::uint32_t>(sums.size()));
  }
  return part;
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
  const Members members = members_of(aggregates);
  const std::vector<IndexRange> ranges = ranges_of(aggregates.count, kRows);
  std::vector<Part> parts(ranges.size());
  parallel_for(static_cast<int>(ranges.size()), [&](int k) {
    const auto at = static_cast<std::size_t>(k);
    parts[at] = contracted_rows(weights, aggregates, members, ranges[at]);
  });
  HostCsr result;
  result.starts.reserve(aggregates.count + 1);
  for (const Part& part : parts) {
    for (const std::uint32_t length : part.lengths) {
      result.starts.push_back(result.starts.back() + length);
    }
    result.columns.insert(result.columns.end(), part.columns.begin(), part.columns.end());
    result.values.insert(result.values.end(), part.values.begin(), part.values.end());
  }
  return result;
}

}  // namespace diacut
