#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "region/arcs.hpp"

namespace diacut {

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
