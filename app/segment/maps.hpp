#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "diacut/labels.hpp"
#include "diacut/map.hpp"

namespace diacut::app {

/// How labels are written.
struct LabelStyle {
  bool indexed = false;          ///< --indexed
  bool cloud_optimised = false;  ///< --cog
};

/// "4,3,2" as numbers of bands. Throws ConfigError unless there are one or three, from 1 on.
std::vector<int> parse_bands(const std::string& text);

/// "200m2", "0.5ha" or "1km2" as square metres; nothing for a text without such a unit.
std::optional<double> ground_area(const std::string& text);

/// The pixels of an area on the ground, at least 1. `frame`: of a scene, or null for a picture.
/// Throws InputError where pixels have no size on the ground.
std::int64_t pixels_of_area(double square_metres, const std::string& input, const MapFrame* frame);

/// `frame`, or of a picture, where it is null, the size alone.
MapFrame frame_or_size(const MapFrame* frame, int width, int height);

/// Throws ConfigError when labels cannot be written so to a file of this name.
void check_labels_name(const std::string& place, const LabelStyle& style);

/// Writes labels as a picture, as a GeoTIFF with the coordinates of `frame`, or as polygons, as the
/// extension says. `frame`: of the scene that they are of, or null for a picture. `simplify`: as
/// write_map_regions() takes it. `facts`: of a picture's file, which a TIFF file keeps.
void write_labels_of(const std::string& place, const Labels& labels, const MapFrame* frame,
                     const LabelStyle& style, std::optional<double> simplify = {},
                     const PictureFacts& facts = {});

}  // namespace diacut::app
