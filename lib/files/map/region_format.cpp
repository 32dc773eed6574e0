#include "map/region_format.hpp"

#include "core/extension.hpp"
#include "output/format.hpp"

namespace diacut {
namespace {

constexpr RegionFormat kFormats[] = {
    // SQLite's tables have at most 2000 columns, of which two are the geometry and the number.
    {".gpkg", "GPKG", "a GeoPackage", "GEOMETRY_NAME=geom", 1998},
    {".geojson", "GeoJSON", "GeoJSON", "RFC7946=YES", 0, true},
    // A shapefile holds the date of its writing: a fixed one, so that equal regions give equal
    // bytes.
    {".shp", "ESRI Shapefile", "a shapefile",
     "ENCODING=UTF-8 SPATIAL_INDEX=YES 2GB_LIMIT=YES DBF_DATE_LAST_UPDATE=1970-01-01", 255},
};

}  // namespace

const RegionFormat* find_region_format(const std::string& path) {
  for (const RegionFormat& each : kFormats) {
    if (has_extension(path, each.extension)) return &each;
  }
  return nullptr;
}

std::string region_extensions() {
  std::string all;
  for (const RegionFormat& each : kFormats)
    all += (all.empty() ? "" : ", ") + std::string(each.extension);
  return all;
}

const RegionFormat& region_format_of(const std::string& path) {
  check_extension(path, "regions", region_extensions().c_str());
  return *find_region_format(path);
}

}  // namespace diacut
