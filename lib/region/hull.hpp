#pragma once

#include <compare>
#include <cstdint>
#include <vector>

namespace diacut {

/// A point of the grid of pixels' corners, at most 2^30 from the origin.
struct GridPoint {
  std::int32_t y = 0;
  std::int32_t x = 0;
  auto operator<=>(const GridPoint&) const = default;
};

/// The vertices of a convex polygon in the order of (y, x).
using Hull = std::vector<GridPoint>;

/// The convex hull of points, by monotone chains (A. M. Andrew, "Another efficient algorithm for
/// convex hulls in two dimensions", 1979), in linear time.
/// @param points At least one point, in the order of (y, x); repeated points are allowed.
/// @return The hull. Exact.
Hull convex_hull(const std::vector<GridPoint>& points);

/// The convex hull of two hulls together, in linear time.
Hull convex_hull(const Hull& a, const Hull& b);

/// Twice the area of a hull. Exact.
std::int64_t twice_area(const Hull& hull);

}  // namespace diacut
