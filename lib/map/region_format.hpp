#pragma once

#include <cstddef>
#include <string>

#include "diacut/map.hpp"

namespace diacut {

/// A format of polygons, and what GDAL calls it.
struct RegionFormat {
  MapRegionFormat format;
  const char* extension;
  const char* driver;
  const char* name;
  std::size_t most_fields;  ///< 0: no limit.
};

/// The format of a path's extension; null for another one.
const RegionFormat* find_region_format(const std::string& path);
/// The format of a path's extension. Throws ConfigError for an extension that is none of polygons.
const RegionFormat& region_format_of(const std::string& path);

}  // namespace diacut
