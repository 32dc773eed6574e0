#include "map/globe.hpp"

#include <fmt/format.h>
#include <ogr_api.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "diacut/errors.hpp"
#include "map/gdal.hpp"

namespace diacut {
namespace {

/// Centres of pixels that are looked at along either side of a scene.
constexpr int kPlacesAlong = 96;
constexpr double kCut = 1e-6;  // Degrees.

[[noreturn]] void refuse_on_globe(std::int64_t label, const char* why) {
  throw InputError(
      fmt::format("region {} has no polygon in longitude and latitude ({}): write a GeoPackage "
                  "(.gpkg), in the scene's own coordinates",
                  label, why));
}

/// Calls move(point) for each point of a geometry.
template <class Move>
class EachPoint : public OGRDefaultGeometryVisitor {
 public:
  explicit EachPoint(const Move& move) : move_(move) {}
  using OGRDefaultGeometryVisitor::visit;
  void visit(OGRPoint* point) override { move_(*point); }

 private:
  const Move& move_;
};

template <class Move>
void each_point(OGRGeometry& geometry, const Move& move) {
  EachPoint<Move> visitor(move);
  geometry.accept(&visitor);
}

/// The strip of 360 degrees that is `turn` times round the earth from that of -180 to 180.
OGRPolygon strip_of(double turn) {
  const double west = 360 * turn - 180;
  auto edge = std::make_unique<OGRLinearRing>();
  for (const auto& [x, y] : {std::pair(0, -90), std::pair(360, -90), std::pair(360, 90),
                             std::pair(0, 90), std::pair(0, -90)}) {
    edge->addPoint(west + x, y);
  }
  OGRPolygon strip;
  strip.addRingDirectly(edge.release());
  return strip;
}

bool is_pole(const OGRPoint& point) { return std::abs(point.getY()) > 90 - 1e-9; }

/// Through the earth, in its radii.
double distance(const OGRPoint& a, const OGRPoint& b) {
  const auto place = [](const OGRPoint& point) {
    const double longitude = point.getX() * M_PI / 180;
    const double latitude = point.getY() * M_PI / 180;
    return std::array{std::cos(latitude) * std::cos(longitude),
                      std::cos(latitude) * std::sin(longitude), std::sin(latitude)};
  };
  const auto p = place(a);
  const auto q = place(b);
  return std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
}

/// A multipolygon of one polygon as that; anything else as it is.
std::unique_ptr<OGRGeometry> only_polygon(std::unique_ptr<OGRGeometry> shape) {
  if (wkbFlatten(shape->getGeometryType()) != wkbMultiPolygon) return shape;
  OGRMultiPolygon& several = *shape->toMultiPolygon();
  if (several.getNumGeometries() != 1) return shape;
  return std::unique_ptr<OGRGeometry>(several.getGeometryRef(0)->clone());
}

/// Whether a shape holds places.
class Holder {
 public:
  explicit Holder(const OGRGeometry& shape)
      : prepared_(OGRCreatePreparedGeometry(
            OGRGeometry::ToHandle(const_cast<OGRGeometry*>(&shape)))) {  // It is read alone.
    shape.getEnvelope(&around_);
  }
  bool operator()(OGRPoint place) const {
    return place.getX() >= around_.MinX && place.getX() <= around_.MaxX &&
           place.getY() >= around_.MinY && place.getY() <= around_.MaxY &&
           OGRPreparedGeometryContains(prepared_.get(), OGRGeometry::ToHandle(&place)) != 0;
  }

 private:
  OGREnvelope around_;
  OGRPreparedGeometryUniquePtr prepared_;
};

/// What on_globe() does.
class Globe {
 public:
  Globe(const MapFrame& frame, int digits) : digits_(digits) {
    const GdalMessages messages;
    const OGRSpatialReference from = spatial_reference(frame);
    const OGRSpatialReference to = globe_reference();
    to_globe_.reset(OGRCreateCoordinateTransformation(&from, &to));
    to_map_.reset(OGRCreateCoordinateTransformation(&to, &from));
    if (!to_globe_ || !to_map_) {
      messages.refuse("its projection cannot be inverted",
                      "write a GeoPackage (.gpkg), in the scene's coordinates");
    }
    std::vector<double> x = {frame.width / 2.0, frame.width / 2.0 + 1};
    std::vector<double> y(2, frame.height / 2.0);
    pixel_to_map(frame)(x, y);
    pixel_ = std::hypot(x[1] - x[0], y[1] - y[0]);
    look_over(frame);
  }

  std::unique_ptr<OGRGeometry> shape(std::int64_t label, const OGRMultiPolygon& in_map) const {
    const GdalMessages messages;  // What one way fails of, the other one may do.
    const Holder in_map_holds(in_map);
    for (const Place& place : unknown_) {
      if (!in_map_holds(place.in_map)) continue;
      refuse_on_globe(label, "the scene's projection cannot be inverted in some of it");
    }
    std::unique_ptr<OGRGeometry> shape = crosses_ ? nullptr : wrapped(in_map);
    if (shape && fault(in_map, shape.get()) == nullptr) return only_polygon(std::move(shape));
    shape = cut(in_map);
    if (const char* const why = fault(in_map, shape.get())) refuse_on_globe(label, why);
    return only_polygon(std::move(shape));
  }

 private:
  struct Place {
    OGRPoint in_map;
    OGRPoint at;  ///< On earth, unless it is one of unknown_.
  };

  /// Looks at a grid of pixels.
  void look_over(const MapFrame& frame) {
    const PixelToMap to_map = pixel_to_map(frame);
    const int step_x = std::max(1, frame.width / kPlacesAlong);
    const int step_y = std::max(1, frame.height / kPlacesAlong);
    std::vector<double> above;  // Longitudes; not a number beyond the earth.
    for (int row = step_y / 2; row < frame.height; row += step_y) {
      std::vector<double> x;
      std::vector<double> y;
      for (int column = step_x / 2; column < frame.width; column += step_x) {
        x.push_back(column + 0.5);
        y.push_back(row + 0.5);
      }
      to_map(x, y);
      std::vector<double> longitudes;
      for (std::size_t k = 0; k < x.size(); ++k) {
        const OGRPoint in_map(x[k], y[k]);
        OGRPoint at = in_map;
        const bool on_earth = locate(at);
        longitudes.push_back(on_earth ? at.getX() : std::nan(""));
        const auto is_far = [&](double other) { return std::abs(at.getX() - other) > 180; };
        crosses_ = crosses_ || (on_earth && (std::abs(at.getX()) > 180 ||
                                             (k > 0 && is_far(longitudes[k - 1])) ||
                                             (!above.empty() && is_far(above[k]))));
        at.setX(std::remainder(at.getX(), 360));
        // Others lie on the cuts.
        const bool inside = on_earth && 180 - std::abs(at.getX()) > kCut && !is_pole(at);
        if (inside) places_.push_back({in_map, at});
        if (!on_earth) unknown_.push_back({in_map, {}});
      }
      above = std::move(longitudes);
    }
  }

  /// Turns a point of the map into one on earth; false where it is not there.
  bool locate(OGRPoint& point) const {
    double x = point.getX();
    double y = point.getY();
    int done = 0;
    to_globe_->Transform(1, &x, &y, nullptr, &done);
    point = OGRPoint(x, y);
    return done != 0 && std::isfinite(x) && std::isfinite(y);
  }

  /// Adds points up to one of the map until lines between them are straight on both, the longitudes
  /// unrolled. False where one is not on earth.
  bool add_line(const OGRPoint& from, const OGRPoint& to, int depth,
                std::vector<OGRPoint>& unrolled) const {
    constexpr int kDeepest = 16;
    constexpr double kStraight = 0.05;  // Pixels that a line may be off.
    constexpr double kFewDegrees = 20;  // Between points, so that the shorter way is meant.
    OGRPoint end = to;
    const OGRPoint middle((from.getX() + to.getX()) / 2, (from.getY() + to.getY()) / 2);
    OGRPoint there = middle;
    if (!locate(end) || !locate(there)) return false;
    const OGRPoint before = unrolled.back();
    end.setX(is_pole(end) ? before.getX()
                          : before.getX() + std::remainder(end.getX() - before.getX(), 360));
    const OGRPoint straight((before.getX() + end.getX()) / 2, (before.getY() + end.getY()) / 2);
    const double length = std::hypot(to.getX() - from.getX(), to.getY() - from.getY());
    const bool is_straight =
        distance(there, straight) * length <= kStraight * pixel_ * distance(before, end) &&
        std::abs(end.getX() - before.getX()) < kFewDegrees;
    if (!is_straight && depth < kDeepest) {
      return add_line(from, middle, depth + 1, unrolled) &&
             add_line(middle, to, depth + 1, unrolled);
    }
    if (is_pole(before)) unrolled.emplace_back(end.getX(), before.getY());
    unrolled.push_back(end);
    return true;
  }

  /// What a ring holds, from -180 to 180 degrees. Null where it is not on earth.
  std::unique_ptr<OGRGeometry> filled(const OGRLinearRing& ring) const {
    OGRPoint from;
    ring.getPoint(0, &from);
    std::vector<OGRPoint> unrolled = {from};
    if (!locate(unrolled.front())) return nullptr;
    for (int k = 1; k < ring.getNumPoints(); ++k) {
      OGRPoint to;
      ring.getPoint(k, &to);
      if (!add_line(from, to, 0, unrolled)) return nullptr;
      from = to;
    }
    const double first = unrolled.front().getX();
    const double last = unrolled.back().getX();
    if (std::abs(last - first) > 180) {  // It is around a pole, at which it is closed.
      double x = 0;
      double y = 90;
      int done = 0;
      to_map_->Transform(1, &x, &y, nullptr, &done);
      const OGRPoint north(x, y);
      OGRPolygon inside;
      inside.addRingDirectly(ring.clone());
      const auto [lowest, highest] = std::minmax_element(
          unrolled.begin(), unrolled.end(),
          [](const OGRPoint& a, const OGRPoint& b) { return a.getY() < b.getY(); });
      const bool by_north = done != 0 && inside.Contains(&north) != FALSE;
      const double pole = by_north || highest->getY() > -lowest->getY() + 1 ? 90 : -90;
      unrolled.emplace_back(last, pole);
      unrolled.emplace_back(first, pole);
    }
    auto outline = std::make_unique<OGRLinearRing>();
    for (const OGRPoint& each : unrolled) outline->addPoint(each.getX(), each.getY());
    outline->closeRings();
    OGRPolygon polygon;
    polygon.addRingDirectly(outline.release());
    const std::unique_ptr<OGRGeometry> whole(polygon.MakeValid());
    if (!whole) return nullptr;
    OGREnvelope around;
    whole->getEnvelope(&around);
    std::unique_ptr<OGRGeometry> rolled = std::make_unique<OGRMultiPolygon>();
    const auto turns = [](double longitude) { return std::floor((longitude + 180) / 360); };
    for (double turn = turns(around.MinX); rolled && turn <= turns(around.MaxX); ++turn) {
      const OGRPolygon strip = strip_of(turn);
      const std::unique_ptr<OGRGeometry> part(whole->Intersection(&strip));
      if (!part) return nullptr;
      each_point(*part, [&](OGRPoint& point) { point.setX(point.getX() - 360 * turn); });
      rolled.reset(rolled->Union(part.get()));
    }
    return rolled;
  }

  /// The polygons unrolled beyond 180 degrees, cut there, and rolled up again. Null where that
  /// fails.
  std::unique_ptr<OGRGeometry> cut(const OGRMultiPolygon& in_map) const {
    std::unique_ptr<OGRGeometry> all = std::make_unique<OGRMultiPolygon>();
    for (const OGRPolygon* polygon : in_map) {
      std::unique_ptr<OGRGeometry> one;
      for (const OGRLinearRing* ring : polygon) {
        std::unique_ptr<OGRGeometry> part = filled(*ring);
        if (!part) return nullptr;
        if (one) part.reset(one->Difference(part.get()));  // A hole.
        one = std::move(part);
        if (!one) return nullptr;
      }
      if (one) all.reset(all->Union(one.get()));
      if (!all) return nullptr;
    }
    // As GDAL writes places. Where a cut touches an outline, lines and points are left over.
    each_point(*all, [unit = std::pow(10.0, -digits_)](OGRPoint& point) {
      point.setX(std::round(point.getX() / unit) * unit);
      point.setY(std::round(point.getY() / unit) * unit);
    });
    const std::unique_ptr<OGRGeometry> valid(all->MakeValid());
    return std::unique_ptr<OGRGeometry>(
        OGRGeometryFactory::removeLowerDimensionSubGeoms(valid.get()));
  }

  /// What GDAL makes of it, which may fail at poles and where a scene crosses 180 degrees.
  std::unique_ptr<OGRGeometry> wrapped(const OGRMultiPolygon& in_map) const {
    std::array<char, 17> wrap = {"WRAPDATELINE=YES"};
    std::array<char*, 2> options = {wrap.data(), nullptr};
    return std::unique_ptr<OGRGeometry>(
        OGRGeometryFactory::transformWithOptions(&in_map, to_globe_.get(), options.data()));
  }

  /// Why a region's polygon is wrong; null where it is right.
  const char* fault(const OGRMultiPolygon& in_map, const OGRGeometry* shape) const {
    if (shape == nullptr || shape->IsEmpty() != FALSE) return "it cannot be transformed";
    if (shape->IsValid() == FALSE) return "it would cross itself";
    OGREnvelope around;
    shape->getEnvelope(&around);
    if (around.MinX < -180 || around.MaxX > 180 || around.MinY < -90 || around.MaxY > 90) {
      return "it would end beyond 180 degrees";
    }
    constexpr double kNear = 0.25;  // Pixels from an outline, where rounding decides.
    const Holder in_map_holds(in_map);
    const Holder holds(*shape);
    for (const Place& place : places_) {
      if (holds(place.at) == in_map_holds(place.in_map)) continue;
      const std::unique_ptr<OGRGeometry> outline(in_map.Boundary());
      if (outline->Distance(&place.in_map) < kNear * pixel_) continue;
      return "it would lie elsewhere than its pixels";
    }
    return nullptr;
  }

  std::unique_ptr<OGRCoordinateTransformation> to_globe_;
  std::unique_ptr<OGRCoordinateTransformation> to_map_;
  int digits_;
  bool crosses_ = false;  ///< Whether the scene reaches beyond 180 degrees, or holds a pole.
  double pixel_ = 0;      ///< A side of a pixel in the middle, in units of the map.
  std::vector<Place> places_;
  std::vector<Place> unknown_;  ///< Those that are not on earth.
};

}  // namespace

OGRSpatialReference globe_reference() {
  OGRSpatialReference globe;
  globe.SetWellKnownGeogCS("WGS84");
  globe.SetAxisMappingStrategy(OAMS_TRADITIONAL_GIS_ORDER);
  return globe;
}

OnGlobe on_globe(const MapFrame& frame, int digits) {
  const auto globe = std::make_shared<const Globe>(frame, digits);
  return [globe](std::int64_t label, const OGRMultiPolygon& in_map) {
    return globe->shape(label, in_map);
  };
}

}  // namespace diacut
