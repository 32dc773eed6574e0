#pragma once

#include <ogr_geometry.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "diacut/map.hpp"
#include "map/band_figures.hpp"
#include "map/region_format.hpp"

namespace diacut {

/// Throws InputError where regions of a scene cannot be written so.
void check_region_format(const RegionFormat& format, const MapFrame& frame);
/// RegionShapes' step in this format.
int step_of(const RegionFormat& format, const MapFrame& frame);

/// What is written of the regions of a scene.
struct MapRegions {
  std::int64_t count = 0;
  const std::vector<std::int64_t>& pixels;  ///< By label; those without any are left out.
  const std::vector<BandFigures>& figures;  ///< As measure_bands() gives them.
  /// The shape of a region. Called once for each, in the order of labels.
  std::function<OGRMultiPolygon(std::int64_t label)> shape;
  std::function<std::int64_t(int x, int y)> label_at = {};  ///< Of a pixel; empty: not known.
};

/// Writes all regions to a file by GDAL. `layer`: its name. The same regions give the same bytes.
/// Throws InputError.
void write_region_layer(const std::string& file, const std::string& layer,
                        const RegionFormat& format, const MapFrame& frame,
                        const MapRegions& regions);

/// The names of files that GDAL wrote for `path`, and their places; the one of its extension is the
/// last: where that is, all are.
std::vector<std::pair<std::string, std::string>> places_of(std::vector<std::string> names,
                                                           const std::string& path);
/// Removes ESRI's own indices of a shapefile that was replaced.
void remove_old_indices(const std::string& path);

/// The source of a frame. Throws InputError where it has changed since the frame was read.
Scene scene_of(const MapFrame& frame);

}  // namespace diacut
