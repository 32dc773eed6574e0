// Simplified coverages. A corner may go where the triangle that it makes with its neighbours holds
// no other corner that is still there: then no side crosses another afterwards, as M. Visvalingam
// and J. D. Whyatt's order and GEOS's coverage simplification have it. The distance is held
// besides.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "diacut/outlines.hpp"

namespace diacut {
namespace {

/// Twice the area of a triangle, positive where it turns one way.
std::int64_t turn_of(const Corner& a, const Corner& b, const Corner& c) {
  return std::int64_t{b.x - a.x} * (c.y - a.y) - std::int64_t{b.y - a.y} * (c.x - a.x);
}

/// The squared distance of a point from a segment.
double distance_squared(const Corner& point, const Corner& a, const Corner& b) {
  const double along_x = b.x - a.x;
  const double along_y = b.y - a.y;
  const double length = along_x * along_x + along_y * along_y;
  double at = length > 0 ? ((point.x - a.x) * along_x + (point.y - a.y) * along_y) / length : 0;
  at = std::clamp(at, 0.0, 1.0);
  const double x = point.x - a.x - at * along_x;
  const double y = point.y - a.y - at * along_y;
  return x * x + y * y;
}

/// The boundaries of all regions as one graph: corners, and sides between them.
class BoundaryGraph {
 public:
  explicit BoundaryGraph(const Outlines& outlines)
      : outlines_(outlines),
        stride_(static_cast<std::size_t>(outlines.width) + 1),
        at_(stride_ * (static_cast<std::size_t>(outlines.height) + 1), kNone) {
    for (const Corner& corner : outlines.corners) {
      std::int32_t& vertex = at_[index(corner)];
      if (vertex != kNone) continue;
      vertex = static_cast<std::int32_t>(vertices_.size());
      vertices_.push_back({corner});
    }
    for (const Ring& ring : outlines.rings) {
      const std::vector<std::int32_t> around = expanded(ring);
      for (std::size_t i = 0; i < around.size(); ++i) {
        join(around[i], around[(i + 1) % around.size()]);
      }
    }
  }

  void simplify(double distance) {
    const double most = distance * distance + 1e-9;
    for (std::size_t v = 0; v < vertices_.size(); ++v) offer(static_cast<std::int32_t>(v));
    while (!queue_.empty()) {
      const auto [area, number] = queue_.top();
      queue_.pop();
      const Vertex& vertex = vertices_[static_cast<std::size_t>(number)];
      if (!vertex.stays && vertex.area == area && may_go(number, most)) remove(number);
    }
  }

  /// The corners of a ring that are still there.
  std::vector<Corner> remaining(const Ring& ring) const {
    std::vector<Corner> corners;
    for (const std::int32_t v : expanded(ring)) {
      const Vertex& vertex = vertices_[static_cast<std::size_t>(v)];
      if (vertex.area != kGone) corners.push_back(vertex.corner);
    }
    return corners;
  }

 private:
  static constexpr std::int32_t kNone = -1;
  static constexpr std::int64_t kGone = -1;

  /// A side to another corner, and the corners that it takes the place of.
  struct Side {
    std::int32_t to = kNone;
    std::vector<std::int32_t> over = {};
  };
  struct Vertex {
    Corner corner;
    std::vector<Side> sides = {};
    std::int64_t area = 0;  ///< Of its triangle, as it was last offered.
    bool stays = false;
  };

  std::size_t index(const Corner& corner) const {
    return static_cast<std::size_t>(corner.y) * stride_ + static_cast<std::size_t>(corner.x);
  }
  const Corner& corner(std::int32_t v) const {
    return vertices_[static_cast<std::size_t>(v)].corner;
  }

  /// The corners along a ring, with those of other rings that lie on its sides.
  std::vector<std::int32_t> expanded(const Ring& ring) const {
    std::vector<std::int32_t> around;
    const auto corners = outlines_.of(ring);
    for (std::size_t i = 0; i < corners.size(); ++i) {
      Corner at = corners[i];
      const Corner& to = corners[(i + 1) % corners.size()];
      const int step_x = (to.x > at.x) - (to.x < at.x);
      const int step_y = (to.y > at.y) - (to.y < at.y);
      for (; at != to; at = {at.x + step_x, at.y + step_y}) {
        if (const std::int32_t vertex = at_[index(at)]; vertex != kNone) around.push_back(vertex);
      }
    }
    return around;
  }

  bool are_joined(std::int32_t a, std::int32_t b) const {
    const std::vector<Side>& sides = vertices_[static_cast<std::size_t>(a)].sides;
    return std::any_of(sides.begin(), sides.end(), [&](const Side& side) { return side.to == b; });
  }

  void join(std::int32_t a, std::int32_t b) {
    if (are_joined(a, b)) return;
    vertices_[static_cast<std::size_t>(a)].sides.push_back({b});
    vertices_[static_cast<std::size_t>(b)].sides.push_back({a});
  }

  bool is_corner_of_image(const Corner& corner) const {
    return (corner.x == 0 || corner.x == outlines_.width) &&
           (corner.y == 0 || corner.y == outlines_.height);
  }

  void offer(std::int32_t number) {
    Vertex& vertex = vertices_[static_cast<std::size_t>(number)];
    vertex.stays = vertex.sides.size() != 2 || is_corner_of_image(vertex.corner);
    if (vertex.stays) return;
    vertex.area =
        std::abs(turn_of(corner(vertex.sides[0].to), vertex.corner, corner(vertex.sides[1].to)));
    queue_.emplace(vertex.area, number);
  }

  bool may_go(std::int32_t number, double most) const {
    const Vertex& vertex = vertices_[static_cast<std::size_t>(number)];
    const std::int32_t a = vertex.sides[0].to;
    const std::int32_t c = vertex.sides[1].to;
    if (a == c || are_joined(a, c)) return false;
    const auto is_near = [&](std::int32_t v) {
      return distance_squared(corner(v), corner(a), corner(c)) <= most;
    };
    if (!is_near(number)) return false;
    for (const Side& side : vertex.sides) {
      if (!std::all_of(side.over.begin(), side.over.end(), is_near)) return false;
    }
    return is_empty(a, number, c);
  }

  /// Whether no other corner lies in a triangle or on its sides.
  bool is_empty(std::int32_t a, std::int32_t b, std::int32_t c) const {
    const std::array<Corner, 3> three = {corner(a), corner(b), corner(c)};
    const auto [left, right] = std::minmax({three[0].x, three[1].x, three[2].x});
    const auto [top, bottom] = std::minmax({three[0].y, three[1].y, three[2].y});
    for (int y = top; y <= bottom; ++y) {
      for (int x = left; x <= right; ++x) {
        const std::int32_t v = at_[index({x, y})];
        if (v == kNone || v == a || v == b || v == c) continue;
        if (vertices_[static_cast<std::size_t>(v)].area != kGone && holds(three, {x, y})) {
          return false;
        }
      }
    }
    return true;
  }

  /// Whether a point of the rectangle around a triangle lies in it or on its sides.
  static bool holds(const std::array<Corner, 3>& three, const Corner& point) {
    bool left = false;
    bool right = false;
    for (std::size_t k = 0; k < 3; ++k) {
      const std::int64_t turn = turn_of(three[k], three[(k + 1) % 3], point);
      left = left || turn < 0;
      right = right || turn > 0;
    }
    return !(left && right);
  }

  void remove(std::int32_t number) {
    Vertex& vertex = vertices_[static_cast<std::size_t>(number)];
    std::vector<std::int32_t> over = std::move(vertex.sides[0].over);
    over.push_back(number);
    over.insert(over.end(), vertex.sides[1].over.begin(), vertex.sides[1].over.end());
    const std::array<std::int32_t, 2> ends = {vertex.sides[0].to, vertex.sides[1].to};
    vertex.sides.clear();
    vertex.area = kGone;
    vertex.stays = true;
    for (std::size_t k = 0; k < 2; ++k) {
      for (Side& side : vertices_[static_cast<std::size_t>(ends[k])].sides) {
        if (side.to == number) side = {ends[1 - k], over};
      }
    }
    for (const std::int32_t end : ends) offer(end);
  }

  const Outlines& outlines_;
  std::size_t stride_;
  std::vector<std::int32_t> at_;  ///< The vertex at each corner of a pixel.
  std::vector<Vertex> vertices_;
  /// The least triangle first, of equal ones the corner that was met first.
  std::priority_queue<std::pair<std::int64_t, std::int32_t>,
                      std::vector<std::pair<std::int64_t, std::int32_t>>, std::greater<>>
      queue_;
};

}  // namespace

Outlines simplify_outlines(const Outlines& outlines, double distance) {
  BoundaryGraph graph(outlines);
  graph.simplify(distance);
  Outlines simple;
  simple.width = outlines.width;
  simple.height = outlines.height;
  simple.first_ring = outlines.first_ring;
  for (Ring ring : outlines.rings) {
    const std::vector<Corner> corners = graph.remaining(ring);
    ring.first = simple.corners.size();
    ring.count = corners.size();
    simple.corners.insert(simple.corners.end(), corners.begin(), corners.end());
    simple.rings.push_back(ring);
  }
  return simple;
}

}  // namespace diacut
