#include "map/region_format.hpp"

#include "diacut/errors.hpp"
#include "output/format.hpp"

namespace diacut {
namespace {

constexpr RegionFormat kFormats[] = {
    // SQLite's tables have at most 2000 columns, of which two are the geometry and the number.
    {MapRegionFormat::kGeoPackage, ".gpkg", "GPKG", "a GeoPackage", 1998},
    {MapRegionFormat::kGeoJson, ".geojson", "GeoJSON", "GeoJSON", 0},
    {MapRegionFormat::kShapefile, ".shp", "ESRI Shapefile", "a shapefile", 255},
};

}  // namespace

const RegionFormat* find_region_format(const std::string& path) {
  const std::string extension = lower_extension(path);
  for (const RegionFormat& each : kFormats) {
    if (extension == each.extension) return &each;
  }
  return nullptr;
}

const RegionFormat& region_format_of(const std::string& path) {
  const RegionFormat* format = find_region_format(path);
  if (format == nullptr) throw unknown_extension(path, "regions", ".gpkg, .geojson, .shp");
  return *format;
}

}  // namespace diacut
