#include "map/region_shapes.hpp"

#include <gdal_alg.h>

#include <cmath>
#include <cstdlib>
#include <utility>

#include "diacut/errors.hpp"
#include "map/gdal.hpp"

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
    : labels_(labels),
      exact_(!simplify),
      outlines_(trace_outlines(labels)),
      to_map_(frame),
      step_(step) {
  if (simplify) outlines_ = simplify_outlines(outlines_, *simplify);
}

std::int32_t RegionShapes::label_at(int x, int y) const {
  if (x < 0 || y < 0 || x >= labels_.width || y >= labels_.height) return 0;
  return labels_.values[static_cast<std::size_t>(y) * static_cast<std::size_t>(labels_.width) +
                        static_cast<std::size_t>(x)];
}

bool RegionShapes::is_junction(int x, int y) const {
  const std::int32_t a = label_at(x - 1, y - 1);
  const std::int32_t b = label_at(x, y - 1);
  const std::int32_t c = label_at(x, y);
  const std::int32_t d = label_at(x - 1, y);
  return int{a != b} + int{b != c} + int{c != d} + int{d != a} > 2;
}

std::unique_ptr<OGRLinearRing> RegionShapes::ring(const Ring& ring) const {
  std::vector<Corner> vertices;
  const auto corners = outlines_.of(ring);
  if (!exact_) {  // Its corners are all that neighbours share.
    return ring_of({corners.begin(), corners.end()}, ring.hole, to_map_);
  }
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const Corner& from = corners[i];
    const Corner& to = corners[(i + 1) % corners.size()];
    const int length = std::abs(to.x - from.x) + std::abs(to.y - from.y);
    const int step_x = (to.x - from.x) / length;
    const int step_y = (to.y - from.y) / length;
    for (int k = 0; k < length; ++k) {
      const int corner_x = from.x + k * step_x;
      const int corner_y = from.y + k * step_y;
      const int along = step_x != 0 ? corner_x : corner_y;
      const bool is_step = step_ > 0 && along % step_ == 0;
      if (k > 0 && !is_step && !is_junction(corner_x, corner_y)) continue;
      vertices.push_back({corner_x, corner_y});
    }
  }
  return ring_of(vertices, ring.hole, to_map_);
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
    polygon->addRingDirectly(ring(each).release());
  }
  finish();
  return shape;
}

}  // namespace diacut
