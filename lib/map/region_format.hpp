#pragma once

#include <cstddef>
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

/// The format of a path's extension; null for another one.
const RegionFormat* find_region_format(const std::string& path);
/// Whether the extension of a path is that of polygons.
inline bool names_polygons(const std::string& path) { return find_region_format(path) != nullptr; }
/// The format of a path's extension. Throws ConfigError for an extension that is none of polygons.
const RegionFormat& region_format_of(const std::string& path);

/// Throws what write_map_regions() would throw of the path and the scene.
void check_map_regions(const std::string& path, const MapFrame& frame);

}  // namespace diacut
