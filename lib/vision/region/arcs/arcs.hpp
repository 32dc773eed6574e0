#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <utility>
#include <vector>

#include "diacut/outlines.hpp"
#include "region/arcs/parts.hpp"

namespace diacut {

/// One in sums of strengths, which are kept in fixed point: sums are exact, so that they do not
/// depend on the order of their terms. The sides of 2^31 pixels still fit in 64 bits.
inline constexpr std::int64_t kUnitStrength = std::int64_t{1} << 30;

/// The strength, 0 to 1, in fixed point; a half and more goes up.
inline std::int64_t fixed_point(double strength) {
  return static_cast<std::int64_t>(strength * static_cast<double>(kUnitStrength) + 0.5);
}

/// The common boundary of two parts: the pairs of 4-neighbours, one pixel in each.
struct Arc {
  std::int32_t first = 0;     ///< The part with the smaller number.
  std::int32_t second = 0;    ///< The part with the larger number.
  std::int64_t strength = 0;  ///< The sum of the pairs' strengths, each as fixed_point() has it.
  std::int64_t length = 0;    ///< The number of pairs.

  void add(const Arc& other) {
    strength += other.strength;
    length += other.length;
  }
};

/// The strength, 0 to 1, of the boundary between neighbouring pixels `p` and `q`, whose normal is
/// the unit vector (nx, ny): x to the right, y down, either sign. Several threads call it at once.
using BoundaryStrength = std::function<double(std::size_t p, std::size_t q, double nx, double ny)>;

/// All arcs between parts, in the order of (first, second). A boundary is followed from crossing to
/// crossing and approximated by straight pieces, divided where it leaves the chord by more than a
/// fixed fraction of its length (Arbelaez et al. 2011, section 3.1); each pair of pixels takes the
/// normal of its piece. Parts numbered 0 have no arcs. On all cores; the same arcs for any number
/// of them.
std::vector<Arc> find_arcs(const Labels& parts, const BoundaryStrength& strength);

/// What the strength of a boundary between two neighbouring pixels is made of: the strength, 0 to
/// 1, and the orientation of the stronger pixel.
struct SideStrength {
  float strength = 0;
  float angle = 0;

  /// The strength along a straight piece with the normal (nx, ny): multiplied by
  /// 1 - direction + direction |cos(angle)| with the angle between both.
  double along(double nx, double ny, double direction) const {
    const double across = angle;
    const double agreement = std::abs(nx * std::cos(across) + ny * std::sin(across));
    return double{strength} * (1.0 - direction * (1.0 - agreement));
  }
};

/// The strength between pixels `p` and `q`. `orientation`: empty where all angles are 0.
inline SideStrength side_strength(const std::vector<float>& strength,
                                  const std::vector<float>& orientation, std::size_t p,
                                  std::size_t q) {
  const float at_p = std::clamp(strength[p], 0.0F, 1.0F);
  const float at_q = std::clamp(strength[q], 0.0F, 1.0F);
  const std::size_t stronger = at_q > at_p ? q : p;
  return {std::max(at_p, at_q), orientation.empty() ? 0.0F : orientation[stronger]};
}

/// A piece of a boundary that another tile goes on with at one of its ends, or at both.
struct OpenBoundary {
  std::int32_t first = 0;        ///< As Arc::first.
  std::int32_t second = 0;       ///< As Arc::second.
  std::uint32_t front_open = 0;  ///< 1: it goes on before its first corner.
  std::uint32_t back_open = 0;   ///< 1: it goes on behind its last corner.
  std::uint64_t corners = 0;     ///< How many it has, at least 2.
};

/// Such pieces, and what lies along them, one after another.
struct OpenBoundaries {
  std::vector<OpenBoundary> pieces;
  std::vector<Corner> corners;
  std::vector<SideStrength> sides;  ///< Between each corner of a piece and the next.
};

/// The arcs of a picture as far as they lie in one tile.
struct TileArcs {
  std::vector<Arc> arcs;  ///< Without the boundaries that go on in other tiles.
  OpenBoundaries open;
};

/// find_arcs() of a tile with the pixels around it: `parts` has a row and a column more on each
/// side, in which pixels outside of the picture are 0. A pair of pixels belongs to the tile that
/// has its right or its lower pixel. side(p, q).along(nx, ny, direction) is strength(p, q, nx, ny).
TileArcs find_arcs_of_tile(const Labels& parts,
                           const std::function<SideStrength(std::size_t, std::size_t)>& side,
                           double direction);

/// How far a boundary may leave the chord of a straight piece: a tenth of the chord's length, or a
/// pixel, whichever is more. The steps of a straight line on the grid do not leave its chord by
/// more than a pixel.
inline constexpr std::int64_t kInverseFraction = 10;

/// Where to divide the piece of a chain from one of its corners to another: the corner that is
/// farthest from the chord, the first of them; `from` if all lie on it and the piece is straight
/// enough.
inline std::size_t where_to_divide(const std::vector<Corner>& corners, std::size_t from,
                                   std::size_t to) {
  const Corner& a = corners[from];
  const std::int64_t dx = corners[to].x - a.x;
  const std::int64_t dy = corners[to].y - a.y;
  const std::int64_t length2 = dx * dx + dy * dy;
  std::size_t farthest = from;
  std::int64_t most = 0;  // The distance times the length, or its square where that is 0.
  for (std::size_t k = from + 1; k < to; ++k) {
    const std::int64_t px = corners[k].x - a.x;
    const std::int64_t py = corners[k].y - a.y;
    const std::int64_t d = length2 > 0 ? std::abs(dx * py - dy * px) : px * px + py * py;
    if (d > most) {
      most = d;
      farthest = k;
    }
  }
  const bool near_a_pixel =
      static_cast<double>(most) * static_cast<double>(most) <= static_cast<double>(length2);
  const bool straight = near_a_pixel || kInverseFraction * most <= length2;
  return length2 > 0 && straight ? from : farthest;
}

/// The sum of the strengths along a chain of corners, in fixed point: strength(k, nx, ny) is that
/// of the side between corners k and k + 1, which belongs to a straight piece with the normal (nx,
/// ny). `pieces` is memory for the call.
template <class Strength>
std::int64_t chain_strength(const std::vector<Corner>& corners, const Strength& strength,
                            std::vector<std::pair<std::size_t, std::size_t>>& pieces) {
  std::int64_t sum = 0;
  pieces.assign(1, {0, corners.size() - 1});
  while (!pieces.empty()) {
    const auto [from, to] = pieces.back();
    pieces.pop_back();
    if (const std::size_t at = where_to_divide(corners, from, to); at != from) {
      pieces.emplace_back(at, to);
      pieces.emplace_back(from, at);
      continue;
    }
    const Corner& a = corners[from];
    const Corner& b = corners[to];
    const double length = std::hypot(b.x - a.x, b.y - a.y);
    const double nx = (a.y - b.y) / length;
    const double ny = (b.x - a.x) / length;
    for (std::size_t k = from; k < to; ++k) sum += fixed_point(strength(k, nx, ny));
  }
  return sum;
}

}  // namespace diacut
