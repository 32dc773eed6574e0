#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "diacut/map.hpp"

namespace diacut::app {

/// How labels are written.
struct LabelStyle {
  bool indexed = false;          ///< --indexed
  bool cloud_optimised = false;  ///< --cog
};

/// "200m2", "0.5ha" or "1km2" as square metres; nothing for a text without such a unit.
std::optional<double> ground_area(const std::string& text);

/// The pixels of an area on the ground, at least 1. `frame`: of a scene, or null for a picture.
/// Throws InputError where pixels have no size on the ground.
std::int64_t pixels_of_area(double square_metres, const std::string& input, const MapFrame* frame);

/// Throws ConfigError when labels cannot be written so to a file of this name.
void check_labels_name(const std::string& place, const LabelStyle& style);

}  // namespace diacut::app
