#pragma once

#include <nlohmann/json.hpp>

#include "diacut/eigenvectors.hpp"

namespace diacut {

/// Adds to the JSON object of an eigensolver's report, for each eigenvector, what its residual
/// holds (EigenResolution): "error_bounds", "angle_bounds" and "resolved".
inline void add_resolution(nlohmann::ordered_json& json, const EigenReport& report) {
  for (const char* name : {"error_bounds", "angle_bounds", "resolved"}) {
    json[name] = nlohmann::ordered_json::array();
  }
  for (const EigenResolution& each : report.resolution) {
    json["error_bounds"].push_back(each.error);
    json["angle_bounds"].push_back(each.angle);
    json["resolved"].push_back(each.resolved);
  }
}

}  // namespace diacut
