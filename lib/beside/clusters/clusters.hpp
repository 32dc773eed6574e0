#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diacut/clusters.hpp"

/// @file
/// What clusters are made by, and what `segment graph` writes.
namespace diacut {

/// k-way discretisation (Yu and Shi 2003): the rotation of the first k eigenvectors z, rows of
/// z / sqrt_degree scaled to unit length, that is nearest to an indicator matrix. Returns the class
/// of each node, 1 to k, or 0 of isolated ones. A class need not be connected and may be empty.
/// Deterministic.
std::vector<std::int32_t> discretise(const std::vector<std::vector<float>>& vectors,
                                     const std::vector<float>& sqrt_degree);

/// What a report says of a graph and of what was computed, as a JSON object with a line feed at
/// the end. `eigenvectors`, `labels`: may be null.
std::string graph_json(const Graph& graph, const GraphEigenvectors* eigenvectors,
                       const GraphLabels* labels, const DeviceInfo& device, double milliseconds);

/// Throws ConfigError unless the extension is one of eigenvectors and labels of a graph.
void check_graph_file(const std::string& path);

}  // namespace diacut
