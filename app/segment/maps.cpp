#include "maps.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "diacut/errors.hpp"
#include "diacut/output.hpp"
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

}  // namespace

std::vector<int> parse_bands(const std::string& text) {
  std::vector<int> bands;
  for (const std::string& each : CLI::detail::split(text, ',')) {
    const auto band = number_in<int>(each, 1);
    if (!band || text.ends_with(',')) {
      throw ConfigError(fmt::format(
          "--bands: '{}' is not a list of bands; bands are counted from 1, as in --bands 4,3,2",
          text));
    }
    bands.push_back(*band);
  }
  if (bands.size() == 1 || bands.size() == 3) return bands;
  throw ConfigError(
      fmt::format("--bands: '{}' names {} bands; name one, which is read as grey, or three, which "
                  "are read as red, green and blue",
                  text, bands.size()));
}

std::optional<double> ground_area(const std::string& text) {
  for (const auto& [unit, metres] :
       {std::pair("km2", 1e6), std::pair("ha", 1e4), std::pair("m2", 1.0)}) {
    if (!text.ends_with(unit)) continue;
    const auto number = number_in<double>(
        std::string_view(text).substr(0, text.size() - std::string_view(unit).size()), 0, 1e15);
    if (number) return *number * metres;
  }
  return std::nullopt;
}

std::int64_t pixels_of_area(double square_metres, const std::string& input, const MapFrame* frame) {
  const PixelSize pixel = frame != nullptr ? ground_pixel(*frame) : PixelSize();
  if (!(pixel.width > 0)) {
    throw InputError(fmt::format(
        "{}: --min-size is an area on the ground, and {}: give a number of pixels, or a share such "
        "as 0.2%",
        input,
        frame != nullptr
            ? "the scene's pixels have no size in metres (its coordinates are degrees, "
              "control points or none)"
            : "a picture's pixels have no size there"));
  }
  constexpr double kRounding = 1e-9;
  const double pixels = square_metres / (pixel.width * pixel.height);
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(pixels * (1 - kRounding))));
}

MapFrame frame_or_size(const MapFrame* frame, int width, int height) {
  if (frame != nullptr) return *frame;
  MapFrame size;
  size.width = width;
  size.height = height;
  return size;
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

void write_labels_of(const std::string& place, const Labels& labels, const MapFrame* frame,
                     const LabelStyle& style, std::optional<double> simplify,
                     const PictureFacts& facts) {
  const MapFrame where = frame_or_size(frame, labels.width, labels.height);
  if (names_polygons(place)) return write_map_regions(place, labels, where, simplify);
  const bool is_tiff = label_format(place, style.indexed) == LabelFormat::kTiff;
  if (is_tiff && (frame != nullptr || style.cloud_optimised)) {
    return write_map_labels(place, labels, where, style.cloud_optimised);
  }
  write_labels(place, labels, style.indexed, facts);
}

}  // namespace diacut::app
