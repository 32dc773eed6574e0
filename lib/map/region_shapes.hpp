#pragma once

#include <ogr_geometry.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "diacut/labels.hpp"
#include "diacut/map.hpp"
#include "diacut/outlines.hpp"

namespace diacut {

/// Turns places in pixels, corners of pixels being whole numbers, into coordinates of a frame. The
/// frame must have coordinates.
class PixelToMap {
 public:
  /// Throws InputError where control points determine nothing, or pixels have no extent.
  explicit PixelToMap(const MapFrame& frame);
  ~PixelToMap();
  PixelToMap(const PixelToMap&) = delete;
  PixelToMap& operator=(const PixelToMap&) = delete;

  void transform(std::vector<double>& x, std::vector<double>& y) const;

 private:
  std::optional<std::array<double, 6>> transform_;
  void* polynomial_ = nullptr;  ///< GDAL's, through control points.
};

/// A ring of a polygon: corners of pixels, which are given their coordinates. Outer rings run
/// counterclockwise and holes clockwise.
std::unique_ptr<OGRLinearRing> ring_of(const std::vector<Corner>& corners, bool hole,
                                       const PixelToMap& to_map);

/// A region of one piece: its outer ring, then its holes.
OGRMultiPolygon shape_of(const std::vector<std::vector<Corner>>& rings, const PixelToMap& to_map);

/// The regions as multipolygons of a frame's coordinates, with outer rings counterclockwise and
/// holes clockwise. Their vertices are the corners where an outline turns, and those where three
/// regions or more meet, so that neighbours share all vertices of their common boundary.
class RegionShapes {
 public:
  /// `step`: a side of an outline also has a vertex at every multiple of so many pixels, for
  /// coordinates in which straight lines will be curved; 0: none. `simplify`: the distance of
  /// simplify_outlines(); empty: outlines are exact.
  RegionShapes(const Labels& labels, const MapFrame& frame, int step,
               std::optional<double> simplify = {});

  OGRMultiPolygon shape(std::int64_t label) const;

 private:
  Outlines outlines_;
  PixelToMap to_map_;
};

}  // namespace diacut
