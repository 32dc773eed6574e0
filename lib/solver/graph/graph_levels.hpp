#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "diacut/graph.hpp"
#include "diacut/progress.hpp"
#include "graph/graph_product.hpp"

namespace diacut {

/// A graph or a contraction of it, on the host.
struct GraphLevel {
  HostCsr weights;              ///< W, loops included.
  std::vector<double> degrees;  ///< The sums of its rows.
  /// The node of the next level that each node is contracted to, ascending; empty on the last
  /// level.
  std::vector<std::uint32_t> coarse;
  std::size_t nodes() const { return degrees.size(); }
};

/// A graph without its isolated nodes, and its contractions.
///
/// Nodes of all levels are numbered so that those contracted to one node follow each other: nodes
/// close to each other in the graph then mostly are close to each other in memory.
struct GraphLevels {
  std::vector<GraphLevel> levels;     ///< From the graph itself to the smallest one.
  std::vector<std::uint32_t> origin;  ///< Of each node of levels[0] its number in the graph.
  /// The component of each node of levels[0], and the sum of the degrees of each: components are
  /// numbered by descending sums, equal ones by their first node in the graph.
  std::vector<std::uint32_t> component;
  std::vector<double> component_degrees;
  std::size_t nodes() const { return origin.size(); }
};

/// The most nodes that are solved densely.
inline constexpr std::size_t kMostDenseNodes = 1024;

/// Contracts a checked graph until at most `enough` nodes are left, or contractions stop to be of
/// use: where they leave nearly all nodes, or fewer than `least` out of so few that can be solved
/// densely. Throws InputError where no node has an edge, or degrees are too large.
GraphLevels graph_levels(const Graph& graph, std::size_t enough, std::size_t least,
                         const Watch& watch);

/// A = D^-1/2 W D^-1/2 of a level.
HostCsr normalized(const GraphLevel& level);

/// The interpolation P from the next level, with orthonormal columns that reproduce D^1/2: row i
/// has the one entry (d_i / d_J)^1/2, J being the node that i is contracted to.
HostCsr interpolation(const GraphLevel& fine, const GraphLevel& coarse);
/// Its transpose.
HostCsr restriction(const GraphLevel& fine, const GraphLevel& coarse);

/// A partition of nodes into connected aggregates.
struct Aggregates {
  std::vector<std::uint32_t> of_node;  ///< The aggregate of each node.
  std::size_t count = 0;
};

/// Aggregates of a node and its strong neighbours (P. Vanek, J. Mandel and M. Brezina, "Algebraic
/// multigrid by smoothed aggregation for second and fourth order elliptic problems", Computing 56,
/// 1996, algorithm 5.1): neighbours of at least a quarter of the node's largest weight to another
/// node. Each node left joins the aggregate of its strongest neighbour that has one. `weights`:
/// a symmetric matrix without weights of 0.
Aggregates aggregate(const HostCsr& weights);

/// The graph whose nodes are the aggregates: weights between them are sums of weights between their
/// nodes, and weights within an aggregate add up to a loop.
HostCsr contract(const HostCsr& weights, const Aggregates& aggregates);

}  // namespace diacut
