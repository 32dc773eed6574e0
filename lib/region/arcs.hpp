#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "region/parts.hpp"

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
};

/// The strength, 0 to 1, of the boundary between neighbouring pixels `p` and `q`, whose normal is
/// the unit vector (nx, ny): x to the right, y down, either sign. Several threads call it at once.
using BoundaryStrength = std::function<double(std::size_t p, std::size_t q, double nx, double ny)>;

/// All arcs between parts, in the order of (first, second). A boundary is followed from crossing to
/// crossing and approximated by straight pieces, divided where it leaves the chord by more than a
/// fixed fraction of its length (Arbelaez et al. 2011, section 3.1); each pair of pixels takes the
/// normal of its piece. Parts numbered 0 have no arcs. On all cores; the same arcs for any number
/// of them.
std::vector<Arc> find_arcs(const Parts& parts, const BoundaryStrength& strength);

}  // namespace diacut
