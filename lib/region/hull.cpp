#include "region/hull.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace diacut {
namespace {

/// Twice the signed area of the triangle a, b, c.
std::int64_t cross(const GridPoint& a, const GridPoint& b, const GridPoint& c) {
  return std::int64_t{b.x - a.x} * (c.y - a.y) - std::int64_t{b.y - a.y} * (c.x - a.x);
}

/// The chain from the first to the last point that turns to one side alone: to the side where
/// `sign` times the cross product is positive.
std::vector<GridPoint> chain(const std::vector<GridPoint>& points, int sign) {
  std::vector<GridPoint> kept;
  for (const GridPoint& point : points) {
    while (kept.size() > 1 && sign * cross(kept[kept.size() - 2], kept.back(), point) <= 0) {
      kept.pop_back();
    }
    if (kept.empty() || kept.back() != point) kept.push_back(point);
  }
  return kept;
}

}  // namespace

Hull convex_hull(const std::vector<GridPoint>& points) {
  const std::vector<GridPoint> one = chain(points, 1);
  const std::vector<GridPoint> other = chain(points, -1);
  Hull hull;
  hull.reserve(one.size() + other.size());
  std::set_union(one.begin(), one.end(), other.begin(), other.end(), std::back_inserter(hull));
  return hull;
}

Hull convex_hull(const Hull& a, const Hull& b) {
  std::vector<GridPoint> points(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), points.begin());
  return convex_hull(points);
}

std::int64_t twice_area(const Hull& hull) {
  std::int64_t sum = 0;
  // Each chain makes a fan of triangles with the first point; the fans lie on different sides of
  // the line from the first point to the last one.
  for (const int sign : {1, -1}) {
    const std::vector<GridPoint> side = chain(hull, sign);
    for (std::size_t i = 2; i < side.size(); ++i) {
      sum += sign * cross(side.front(), side[i - 1], side[i]);
    }
  }
  return sum;
}

}  // namespace diacut
