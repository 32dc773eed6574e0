#pragma once

#include <ogr_geometry.h>
#include <ogr_spatialref.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "diacut/map.hpp"

namespace diacut {

/// Regions of a scene in longitude and latitude of WGS 84, as GeoJSON has them (RFC 7946): cut at
/// 180 degrees and closed at poles. Each is held to be valid, and to hold of a grid of pixels'
/// centres all of its own and no other.
class Globe {
 public:
  /// `digits`: behind the point, as places are written; `label_at`: the label of a pixel; empty: no
  /// centres are looked at.
  Globe(const MapFrame& frame, int digits,
        const std::function<std::int64_t(int x, int y)>& label_at);

  /// Throws InputError where the region cannot be had so.
  std::unique_ptr<OGRGeometry> shape(std::int64_t label, const OGRMultiPolygon& in_map) const;

 private:
  struct Place {
    std::int64_t label = 0;
    OGRPoint at;
  };
  /// Looks at a grid of pixels.
  void look_over(const MapFrame& frame, const std::function<std::int64_t(int x, int y)>& label_at);
  /// What GDAL makes of it, which may fail at poles and where a scene crosses 180 degrees.
  std::unique_ptr<OGRGeometry> wrapped(const OGRMultiPolygon& in_map) const;
  /// The polygons unrolled beyond 180 degrees, cut there, and rolled up again. Null where that
  /// fails.
  std::unique_ptr<OGRGeometry> cut(const OGRMultiPolygon& in_map) const;
  /// What a ring holds, from -180 to 180 degrees. Null where it is not on earth.
  std::unique_ptr<OGRGeometry> filled(const OGRLinearRing& ring) const;
  /// Adds points up to one of the map until lines between them are straight on both, the longitudes
  /// unrolled. False where one is not on earth.
  bool add_line(const OGRPoint& from, const OGRPoint& to, int depth,
                std::vector<OGRPoint>& unrolled) const;
  /// Turns a point of the map into one on earth; false where it is not there.
  bool locate(OGRPoint& point) const;
  /// Why a region's polygon is wrong; null where it is right.
  const char* fault(std::int64_t label, const OGRGeometry* shape) const;

  std::unique_ptr<OGRCoordinateTransformation> to_globe_;
  std::unique_ptr<OGRCoordinateTransformation> to_map_;
  int digits_;
  bool crosses_ = false;  ///< Whether the scene reaches beyond 180 degrees, or holds a pole.
  double pixel_ = 0;      ///< A side of a pixel in the middle, in units of the map.
  std::vector<Place> places_;
};

/// WGS 84, longitude first.
OGRSpatialReference globe_reference();

}  // namespace diacut
