#include "maps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "diacut/errors.hpp"
#include "map/region_format.hpp"
#include "output/format.hpp"
#include "text.hpp"

namespace diacut::app {

namespace {

/// The format of labels. Throws ConfigError that names those of polygons too.
LabelFormat known_format(const std::string& place, const LabelStyle& style) {
  try {
    return label_format(place, style.indexed);
  } catch (const ConfigError& error) {
    if (style.indexed) throw;
    throw ConfigError(
        fmt::format("{}; polygons of a scene as one of .gpkg, .geojson, .shp", error.what()));
  }
}

/// The square metres of the pixel in the middle of a scene; 0: not known.
double middle_pixel(const MapFrame& frame) {
  if (!frame.has_coordinates()) return 0;
  const Corner at{frame.width / 2, frame.height / 2};
  const Outlines one{frame.width,
                     frame.height,
                     {at, {at.x + 1, at.y}, {at.x + 1, at.y + 1}, {at.x, at.y + 1}},
                     {{1, 1, false, 0, 4}},
                     {0, 0, 1}};
  const std::vector<double> areas = ground_areas(frame, one);
  return areas.empty() ? 0 : areas[0];
}

}  // namespace

LeastSize size_in_pixels(const char* option, const LeastSize& size, const std::string& input,
                         const MapFrame* frame, bool is_greatest) {
  if (size.unit != LeastSize::Unit::kSquareMetres) return size;
  const double pixel = frame != nullptr ? middle_pixel(*frame) : 0;
  if (!(pixel > 0)) {
    throw InputError(fmt::format(
        "{}: {} is an area on the ground, and {}: give a number of pixels, or a share such as 0.2%",
        input, option,
        frame != nullptr
            ? "the scene's pixels have no size there (it has no coordinates on a known earth)"
            : "a picture's pixels have no size there"));
  }
  constexpr double kRounding = 1e-9;
  const double pixels = size.value / pixel;
  return {LeastSize::Unit::kPixels, is_greatest
                                        ? std::floor(pixels * (1 + kRounding))
                                        : std::max(1.0, std::ceil(pixels * (1 - kRounding)))};
}

void check_labels_name(const std::string& place, const LabelStyle& style) {
  if (names_polygons(place)) {
    if (!style.indexed && !style.cloud_optimised) return;
    throw ConfigError(fmt::format("{}: '{}' holds polygons, not a raster; leave out one of the two",
                                  style.indexed ? "--indexed" : "--cog", place));
  }
  const LabelFormat format = known_format(place, style);
  if (style.cloud_optimised && format != LabelFormat::kTiff) {
    throw ConfigError(
        fmt::format("--cog: '{}' is not a GeoTIFF; name it .tif, or leave out --cog", place));
  }
}

}  // namespace diacut::app
