#pragma once

#include <ogr_geometry.h>

#include <cstdint>
#include <functional>
#include <string>
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

/// Writes all regions to `path` and, of a shapefile, beside it: by GDAL in the folder PATH.part,
/// from where they are put in place. The same regions give the same bytes. Throws InputError that
/// names the path.
void write_region_layer(const std::string& path, const RegionFormat& format, const MapFrame& frame,
                        const MapRegions& regions);

/// The source of a frame. Throws InputError where it has changed since the frame was read.
Scene scene_of(const MapFrame& frame);

}  // namespace diacut
