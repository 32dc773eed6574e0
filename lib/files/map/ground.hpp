#pragma once

#include <ogr_geometry.h>
#include <ogr_spatialref.h>

#include <memory>
#include <optional>

#include "diacut/map.hpp"

namespace diacut {

/// What ground_areas() measures by.
class GroundArea {
 public:
  /// That of a frame with coordinates; nothing where these are of no known earth.
  static std::optional<GroundArea> of(const MapFrame& frame);

  /// Whether areas are those of the map.
  bool is_plane() const { return to_equal_area_ == nullptr; }
  /// Of a polygon in the frame's coordinates. Not a number where it is not on earth.
  double square_metres(const OGRMultiPolygon& shape) const;

 private:
  double square_metres(const OGRLinearRing& ring) const;

  double unit_ = 1;    ///< Of the coordinates that are measured, metres.
  double period_ = 0;  ///< Of their first one, around the earth; 0: none.
  std::shared_ptr<OGRCoordinateTransformation> to_equal_area_;  ///< Of a map that is not.
};

}  // namespace diacut
