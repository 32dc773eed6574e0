#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "region/parts.hpp"

namespace diacut {

/// The common boundary of two parts: the pairs of 4-neighbours, one pixel in each.
struct Arc {
  std::int32_t first = 0;   ///< The part with the smaller number.
  std::int32_t second = 0;  ///< The part with the larger number.
  double strength = 0;      ///< The sum of the pairs' strengths.
  std::int64_t length = 0;  ///< The number of pairs.
};

/// The strength of the boundary between neighbouring pixels `p` and `q`, whose normal is the unit
/// vector (nx, ny): x to the right, y down, either sign.
using BoundaryStrength = std::function<double(std::size_t p, std::size_t q, double nx, double ny)>;

/// All arcs between parts, in the order of (first, second). A boundary is followed from crossing to
/// crossing and approximated by straight pieces, divided where it leaves the chord by more than a
/// fixed fraction of its length (Arbelaez et al. 2011, section 3.1); each pair of pixels takes the
/// normal of its piece. Parts numbered 0 have no arcs. Deterministic.
std::vector<Arc> find_arcs(const Parts& parts, const BoundaryStrength& strength);

}  // namespace diacut
