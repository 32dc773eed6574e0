#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <opencv2/core.hpp>
#include <string>
#include <vector>

#include "diacut/errors.hpp"
#include "diacut/map.hpp"
#include "image/naming.hpp"
#include "map/detect.hpp"
#include "map/gdal.hpp"

namespace diacut {
namespace {

struct Place {
  double x = 0;
  double y = 0;
};

Place placed(const PixelToMap& to_map, double column, double row) {
  std::vector<double> x = {column};
  std::vector<double> y = {row};
  to_map(x, y);
  return {x[0], y[0]};
}

/// Whether a place in a frame lies within half a pixel of this one.
bool is_at(const PixelToMap& to_map, double column, double row, const Place& place) {
  const Place at = placed(to_map, column, row);
  const Place right = placed(to_map, column + 1, row);
  const Place below = placed(to_map, column, row + 1);
  const cv::Matx22d pixel(right.x - at.x, below.x - at.x, right.y - at.y, below.y - at.y);
  const cv::Vec2d off = pixel.inv() * cv::Vec2d(place.x - at.x, place.y - at.y);
  constexpr double kHalf = 0.5;
  return std::abs(off[0]) <= kHalf && std::abs(off[1]) <= kHalf;
}

constexpr std::array kCorners = {Place{0, 0}, Place{1, 0}, Place{0, 1}, Place{1, 1}};

std::string extent_of(const MapFrame& frame, const PixelToMap& to_map) {
  std::vector<double> x;
  std::vector<double> y;
  for (const Place& corner : kCorners) {
    x.push_back(corner.x * frame.width);
    y.push_back(corner.y * frame.height);
  }
  to_map(x, y);
  const auto [left, right] = std::minmax_element(x.begin(), x.end());
  const auto [lower, upper] = std::minmax_element(y.begin(), y.end());
  return fmt::format("x {:.10g} to {:.10g}, y {:.10g} to {:.10g}", *left, *right, *lower, *upper);
}

std::string name_of(const OGRSpatialReference& reference) {
  const char* const name = reference.GetName();
  return name == nullptr ? "without a name" : name;
}

/// Throws InputError unless two frames have one coordinate system, as far as both state it.
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
  const bool is_raster = is_map(name) || (is_placed_beside(name) && gdal_knows(name));
  if (!scene.has_coordinates() || !is_raster) return 1;
  const MapFrame own = read_map_frame(name);
  if (!own.has_coordinates()) return 1;
  return naming(name, [&] {
    const GdalMessages quiet;
    check_one_system(own, scene);
    const PixelToMap from = pixel_to_map(own);
    const PixelToMap to = pixel_to_map(scene);
    for (int turn = 0; turn < 8; ++turn) {
      const bool fits = std::all_of(kCorners.begin(), kCorners.end(), [&](const Place& stored) {
        Place upright = turn < 4 ? stored : Place{stored.y, stored.x};
        if (turn % 4 == 1 || turn % 4 == 2) upright.x = 1 - upright.x;
        if (turn % 4 >= 2) upright.y = 1 - upright.y;
        return is_at(to, upright.x * scene.width, upright.y * scene.height,
                     placed(from, stored.x * own.width, stored.y * own.height));
      });
      if (fits) return turn + 1;
    }
    throw InputError(fmt::format(
        "it lies elsewhere: at {}, and the scene at {}: give that of this scene (gdalwarp -te cuts "
        "it out)",
        extent_of(own, from), extent_of(scene, to)));
  });
}

}  // namespace diacut
