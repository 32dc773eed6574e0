#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "diacut/map.hpp"

namespace diacut {

/// A format of write_map_regions(), and what GDAL calls it.
struct RegionFormat {
  const char* extension;
  const char* driver;
  const char* name;
  const char* options;          ///< Of GDAL's layers, by spaces.
  std::size_t most_fields = 0;  ///< 0: no limit.
  bool on_globe = false;        ///< Whether places are longitudes and latitudes.
};

/// The extensions of all formats: ".gpkg, .geojson, .shp".
std::string region_extensions();
/// The format of a path's extension; null for another one.
const RegionFormat* find_region_format(const std::string& path);
/// Whether the extension of a path is that of polygons.
inline bool names_polygons(const std::string& path) { return find_region_format(path) != nullptr; }
/// The format of a path's extension. Throws ConfigError for an extension that is none of polygons.
const RegionFormat& region_format_of(const std::string& path);

/// Throws what write_map_regions() would throw of the path and the scene.
void check_map_regions(const std::string& path, const MapFrame& frame);

/// Writes the features of write_map_regions() from a file of labels, with the same bytes, without
/// the whole picture in memory: labels and bands are read by rows, and the corners of all outlines
/// are held, 8 bytes each.
/// `labels`: a raster of the regions 1..count, each 4-connected, as RasterBlocks wrote it.
/// `done`: is called with the share that is done, up to 1. Throws InputError as write_map_regions()
/// does.
void write_region_blocks(const std::string& path, const std::string& labels, std::int64_t count,
                         const MapFrame& frame, const std::function<void(double)>& done);

}  // namespace diacut
