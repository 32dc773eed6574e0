#pragma once

#include <string>
#include <vector>

#include "diacut/device.hpp"
#include "diacut/graph.hpp"

namespace diacut {

/// A device as a JSON object: what report_json() says of it.
std::string device_json(const DeviceInfo& device);
/// Devices as a JSON array, each also with whether it is the chosen one. `chosen`: that, or null.
std::string devices_json(const std::vector<DeviceInfo>& devices, const DeviceInfo* chosen);

/// What a report says of a graph and of what was computed, as a JSON object with a line feed at
/// the end. `eigenvectors`, `labels`: may be null.
std::string graph_json(const Graph& graph, const GraphEigenvectors* eigenvectors,
                       const GraphLabels* labels, const DeviceInfo& device, double milliseconds);

}  // namespace diacut
