#pragma once

#include <ogr_geometry.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "diacut/labels.hpp"
#include "diacut/map.hpp"
#include "map/region_format.hpp"
#include "map/scene.hpp"

namespace diacut {

/// What a band holds in a region. Values are summed less the first one that was met, so that a flat
/// region has a deviation of exactly 0.
struct BandFigures {
  std::int64_t count = 0;  ///< The region's pixels with data in the band.
  double first = 0;
  double sum = 0;      ///< Of the values less the first.
  double squares = 0;  ///< Of the same.
  double least = 0;
  double greatest = 0;

  double mean() const;
  /// The standard deviation of the pixels (divided by their number).
  double deviation() const;
};

/// Adds rows of bands to the figures of regions, which are laid out as measure_bands() gives them.
/// `labels`: of the same rows, of this width.
void add_rows(const BandRows& rows, std::size_t width, const std::int32_t* labels,
              std::vector<BandFigures>& figures);

/// The figures of each band of a scene in each region, region after region: those of region L in
/// the k-th of scene.bands() are at (L - 1) * bands + k. Reads the scene once. Throws InputError.
std::vector<BandFigures> measure_bands(const Scene& scene, const Labels& labels);

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
