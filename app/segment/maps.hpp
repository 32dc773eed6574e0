#pragma once

#include <string>

#include "diacut/map.hpp"
#include "diacut/parameters.hpp"

namespace diacut::app {

/// How labels are written.
struct LabelStyle {
  bool indexed = false;          ///< --indexed
  bool cloud_optimised = false;  ///< --cog
};

/// A size in pixels where it is an area on the ground: by the pixel in the middle of a scene. It is
/// rounded to the regions that are large enough, or small enough with `is_greatest`. `option`: that
/// gives it; `frame`: of a scene, or null for a picture. Throws InputError where pixels have no
/// size on the ground.
LeastSize size_in_pixels(const char* option, const LeastSize& size, const std::string& input,
                         const MapFrame* frame, bool is_greatest = false);

/// Throws ConfigError when labels cannot be written so to a file of this name.
void check_labels_name(const std::string& place, const LabelStyle& style);

}  // namespace diacut::app
