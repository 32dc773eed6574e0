#include "map/region_shapes.hpp"

#include <gdal_alg.h>

#include <cmath>
#include <utility>

#include "diacut/errors.hpp"
#include "map/gdal.hpp"
#include "output/outline_sweep.hpp"

namespace diacut {

PixelToMap::PixelToMap(const MapFrame& frame) : transform_(frame.transform) {
  if (transform_) {
    const auto& t = *transform_;
    const double area = t[1] * t[5] - t[2] * t[4];
    if (std::isfinite(area) && area != 0) return;
    throw InputError("its transform gives pixels no area: assign another with gdal_edit.py");
  }
  const std::vector<GDAL_GCP> points = control_points(frame);
  constexpr int kHighestOrderThatIsStable = 0;
  polynomial_ = GDALCreateGCPTransformer(static_cast<int>(points.size()), points.data(),
                                         kHighestOrderThatIsStable, FALSE);
  if (polynomial_ == nullptr) {
    throw InputError(
        "its control points determine no coordinates (do they lie on a line?): warp it with "
        "gdalwarp first");
  }
}

PixelToMap::~PixelToMap() {
  if (polynomial_ != nullptr) GDALDestroyGCPTransformer(polynomial_);
}

void PixelToMap::transform(std::vector<double>& x, std::vector<double>& y) const {
  if (transform_) {
    const auto& t = *transform_;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double column = x[i];
      const double row = y[i];
      x[i] = t[0] + t[1] * column + t[2] * row;
      y[i] = t[3] + t[4] * column + t[5] * row;
    }
    return;
  }
  std::vector<double> z(x.size(), 0);
  std::vector<int> done(x.size(), 0);
  GDALGCPTransform(polynomial_, FALSE, static_cast<int>(x.size()), x.data(), y.data(), z.data(),
                   done.data());
}

std::unique_ptr<OGRLinearRing> ring_of(const std::vector<Corner>& corners, bool hole,
                                       const PixelToMap& to_map) {
  std::vector<double> x;
  std::vector<double> y;
  for (const Corner& corner : corners) {
    x.push_back(corner.x);
    y.push_back(corner.y);
  }
  to_map.transform(x, y);
  auto made = std::make_unique<OGRLinearRing>();
  made->setPoints(static_cast<int>(x.size()), x.data(), y.data());
  made->closeRings();
  if ((made->isClockwise() != 0) != hole) made->reversePoints();
  return made;
}

OGRMultiPolygon shape_of(const std::vector<std::vector<Corner>>& rings, const PixelToMap& to_map) {
  auto polygon = std::make_unique<OGRPolygon>();
  bool hole = false;
  for (const std::vector<Corner>& ring : rings) {
    polygon->addRingDirectly(ring_of(ring, std::exchange(hole, true), to_map).release());
  }
  OGRMultiPolygon shape;
  shape.addGeometryDirectly(polygon.release());
  return shape;
}

RegionShapes::RegionShapes(const Labels& labels, const MapFrame& frame, int step,
                           std::optional<double> simplify)
    : outlines_(trace_outlines(labels, {!simplify, simplify ? 0 : step})), to_map_(frame) {
  if (simplify) outlines_ = simplify_outlines(outlines_, *simplify);
}

OGRMultiPolygon RegionShapes::shape(std::int64_t label) const {
  OGRMultiPolygon shape;
  std::unique_ptr<OGRPolygon> polygon;
  const auto finish = [&] {
    if (polygon) shape.addGeometryDirectly(polygon.release());
  };
  for (const Ring& each : outlines_.of(label)) {
    if (!each.hole) {
      finish();
      polygon = std::make_unique<OGRPolygon>();
    }
    const auto corners = outlines_.of(each);
    polygon->addRingDirectly(
        ring_of({corners.begin(), corners.end()}, each.hole, to_map_).release());
  }
  finish();
  return shape;
}

}  // namespace diacut
