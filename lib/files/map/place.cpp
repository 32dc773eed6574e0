#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "diacut/errors.hpp"
#include "diacut/map.hpp"
#include "image/naming.hpp"
#include "map/gdal.hpp"

namespace diacut {
namespace {

struct Place {
  double x = 0;
  double y = 0;
};

Place placed(const std::array<double, 6>& t, double column, double row) {
  return {t[0] + t[1] * column + t[2] * row, t[3] + t[4] * column + t[5] * row};
}

std::string extent_of(const MapFrame& frame) {
  const Place first = placed(*frame.transform, 0, 0);
  const Place last = placed(*frame.transform, frame.width, frame.height);
  return fmt::format("x {:.10g} to {:.10g}, y {:.10g} to {:.10g}", std::min(first.x, last.x),
                     std::max(first.x, last.x), std::min(first.y, last.y),
                     std::max(first.y, last.y));
}

std::string name_of(const OGRSpatialReference& reference) {
  const char* const name = reference.GetName();
  return name == nullptr ? "without a name" : name;
}

/// Throws InputError unless two frames have one coordinate system, as far as both tell.
void check_one_system(const MapFrame& own, const MapFrame& scene) {
  if (own.projection.empty() || scene.projection.empty()) return;
  const OGRSpatialReference mine = spatial_reference(own);
  const OGRSpatialReference other = spatial_reference(scene);
  const char* const options[] = {"CRITERION=EQUIVALENT", "IGNORE_DATA_AXIS_TO_SRS_AXIS_MAPPING=YES",
                                 nullptr};
  if (mine.IsSame(&other, options) != 0) return;
  throw InputError(
      fmt::format("its coordinates are of another system ({}) than the scene's ({}): bring it "
                  "there with gdalwarp -t_srs",
                  name_of(mine), name_of(other)));
}

}  // namespace

int turn_onto(const MapFrame& scene, const std::string& name) {
  if (!scene.transform || !is_map(name)) return 1;
  const MapFrame own = read_map_frame(name);
  if (!own.transform) return 1;
  return naming(name, [&] {
    const GdalMessages quiet;
    check_one_system(own, scene);
    const std::array<double, 6>& s = *scene.transform;
    const double area = s[1] * s[5] - s[2] * s[4];
    // Where a corner of this file lies, as shares of the scene.
    const auto corner = [&](double column, double row) {
      const Place at = placed(*own.transform, column, row);
      const double x = at.x - s[0];
      const double y = at.y - s[3];
      return Place{(x * s[5] - y * s[2]) / area / scene.width,
                   (y * s[1] - x * s[4]) / area / scene.height};
    };
    for (int turn = 0; turn < 8; ++turn) {
      bool fits = true;
      for (const Place& stored : {Place{0, 0}, Place{1, 0}, Place{0, 1}}) {
        const Place at = corner(stored.x * own.width, stored.y * own.height);
        Place upright = turn < 4 ? stored : Place{stored.y, stored.x};
        if (turn % 4 == 1 || turn % 4 == 2) upright.x = 1 - upright.x;
        if (turn % 4 >= 2) upright.y = 1 - upright.y;
        constexpr double kHalf = 0.5;  // Of a pixel.
        fits = fits && std::abs(at.x - upright.x) * scene.width <= kHalf &&
               std::abs(at.y - upright.y) * scene.height <= kHalf;
      }
      if (fits) return turn + 1;
    }
    throw InputError(fmt::format(
        "it lies elsewhere: at {}, and the scene at {}: give that of this scene (gdalwarp -te cuts "
        "it out)",
        extent_of(own), extent_of(scene)));
  });
}

}  // namespace diacut
