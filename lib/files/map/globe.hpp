#pragma once

#include <ogr_geometry.h>
#include <ogr_spatialref.h>

#include <cstdint>
#include <functional>
#include <memory>

#include "diacut/map.hpp"

namespace diacut {

/// Turns a region of a scene, in its coordinates, into one in longitude and latitude of WGS 84, as
/// GeoJSON has it (RFC 7946): cut at 180 degrees and closed at poles. It is held to be valid, and
/// to hold of a grid of pixels' centres those that it holds in the scene's coordinates and no
/// other. Throws InputError where it cannot be had so.
using OnGlobe =
    std::function<std::unique_ptr<OGRGeometry>(std::int64_t label, const OGRMultiPolygon& in_map)>;

/// That of a scene. `digits`: behind the point, as places are written. Throws InputError.
OnGlobe on_globe(const MapFrame& frame, int digits);

/// WGS 84, longitude first.
OGRSpatialReference globe_reference();

}  // namespace diacut
