#include "map/ground.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "map/gdal.hpp"

namespace diacut {
namespace {

/// Beyond this latitude, degrees, areas are measured in a plane that touches the earth there, else
/// on a cylinder, on which parallels and meridians are straight.
constexpr double kFarNorth = 60;

/// A pixel of a frame as a polygon.
OGRMultiPolygon pixel_at(const PixelToMap& to_map, double column, double row) {
  std::vector<double> x = {column, column + 1, column + 1, column};
  std::vector<double> y = {row, row, row + 1, row + 1};
  to_map(x, y);
  auto ring = std::make_unique<OGRLinearRing>();
  ring->setPoints(static_cast<int>(x.size()), x.data(), y.data());
  ring->closeRings();
  OGRPolygon polygon;
  polygon.addRingDirectly(ring.release());
  OGRMultiPolygon shape;
  shape.addGeometry(&polygon);
  return shape;
}

}  // namespace

std::optional<GroundArea> GroundArea::of(const MapFrame& frame) {
  const OGRSpatialReference reference = spatial_reference(frame);
  const bool in_degrees = reference.IsGeographic() != 0;
  if (!frame.has_coordinates() || (!in_degrees && reference.IsProjected() == 0)) return {};
  GroundArea on_map;
  if (!in_degrees) on_map.unit_ = reference.GetLinearUnits();
  const PixelToMap to_map = pixel_to_map(frame);
  std::vector<double> x = {frame.width / 2.0};
  std::vector<double> y = {frame.height / 2.0};
  to_map(x, y);
  const std::unique_ptr<OGRSpatialReference> globe(reference.CloneGeogCS());
  globe->SetAxisMappingStrategy(OAMS_TRADITIONAL_GIS_ORDER);
  const std::unique_ptr<OGRCoordinateTransformation> to_globe(
      OGRCreateCoordinateTransformation(&reference, globe.get()));
  if (!to_globe || to_globe->Transform(1, x.data(), y.data()) == 0) {
    return in_degrees ? std::nullopt : std::optional(on_map);
  }
  const double degree = globe->GetAngularUnits() * 180 / M_PI;
  OGRSpatialReference equal_area;
  equal_area.SetProjCS("equal area");
  equal_area.CopyGeogCSFrom(globe.get());
  GroundArea on_ground;
  if (std::abs(y[0] * degree) > kFarNorth) {
    equal_area.SetLAEA(y[0] * degree, x[0] * degree, 0, 0);
  } else {
    equal_area.SetCEA(0, x[0] * degree, 0, 0);
    on_ground.period_ = 2 * M_PI * globe->GetSemiMajor();
  }
  on_ground.to_equal_area_.reset(OGRCreateCoordinateTransformation(&reference, &equal_area));
  if (!on_ground.to_equal_area_) return in_degrees ? std::nullopt : std::optional(on_map);
  if (in_degrees) return on_ground;
  constexpr double kTrue = 0.01;  // Share of an area.
  for (const double right : {0.0, 0.5, 1.0}) {
    for (const double down : {0.0, 0.5, 1.0}) {
      const OGRMultiPolygon pixel =
          pixel_at(to_map, right * (frame.width - 1), down * (frame.height - 1));
      const double ground = on_ground.square_metres(pixel);
      if (std::abs(on_map.square_metres(pixel) - ground) > kTrue * ground) return on_ground;
    }
  }
  return on_map;
}

double GroundArea::square_metres(const OGRMultiPolygon& shape) const {
  double area = 0;
  for (const OGRPolygon* polygon : shape) {
    for (const OGRLinearRing* ring : polygon) {
      area += (ring == polygon->getExteriorRing() ? 1 : -1) * square_metres(*ring);
    }
  }
  return area;
}

double GroundArea::square_metres(const OGRLinearRing& ring) const {
  constexpr int kParts = 8;  // Of a side, which may be curved on the ground.
  const int parts = is_plane() ? 1 : kParts;
  std::vector<double> x;
  std::vector<double> y;
  for (int k = 0; k + 1 < ring.getNumPoints(); ++k) {
    for (int part = 0; part < parts; ++part) {
      const double share = static_cast<double>(part) / parts;
      x.push_back(ring.getX(k) + share * (ring.getX(k + 1) - ring.getX(k)));
      y.push_back(ring.getY(k) + share * (ring.getY(k + 1) - ring.getY(k)));
    }
  }
  if (to_equal_area_) {
    std::vector<int> done(x.size());
    to_equal_area_->Transform(static_cast<int>(x.size()), x.data(), y.data(), nullptr, done.data());
    if (std::count(done.begin(), done.end(), 0) > 0) return std::nan("");
  }
  double sum = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const std::size_t next = (k + 1) % x.size();
    const double along = x[next] - x[k];
    sum += (period_ > 0 ? std::remainder(along, period_) : along) * ((y[k] + y[next]) / 2 - y[0]);
  }
  return std::abs(sum) * unit_ * unit_;
}

}  // namespace diacut
