#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "graph/graph_product.hpp"

namespace diacut {

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
