#include "maps.hpp"

#include <fmt/format.h>

#include <charconv>
#include <system_error>

#include "diacut/errors.hpp"
#include "diacut/output.hpp"

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
  const char* end = text.data() + text.size();
  for (const char* at = text.data();; ++at) {
    const auto [stop, code] = std::from_chars(at, end, bands.emplace_back());
    if (code != std::errc() || bands.back() < 1 || (stop != end && *stop != ',')) {
      throw ConfigError(fmt::format(
          "--bands: '{}' is not a list of bands; bands are counted from 1, as in --bands 4,3,2",
          text));
    }
    if (stop == end) break;
    at = stop;
  }
  if (bands.size() == 1 || bands.size() == 3) return bands;
  throw ConfigError(
      fmt::format("--bands: '{}' names {} bands; name one, which is read as grey, or three, which "
                  "are read as red, green and blue",
                  text, bands.size()));
}

MapFrame frame_or_size(const MapFrame* frame, int width, int height) {
  if (frame != nullptr) return *frame;
  MapFrame size;
  size.width = width;
  size.height = height;
  return size;
}

void check_labels_name(const std::string& place, const LabelStyle& style) {
  if (map_region_format(place)) {
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
                     const LabelStyle& style) {
  const MapFrame where = frame_or_size(frame, labels.width, labels.height);
  if (map_region_format(place)) return write_map_regions(place, labels, where);
  const bool is_tiff = label_format(place, style.indexed) == LabelFormat::kTiff;
  if (is_tiff && (frame != nullptr || style.cloud_optimised)) {
    return write_map_labels(place, labels, where, style.cloud_optimised);
  }
  write_labels(place, labels, style.indexed);
}

}  // namespace diacut::app
