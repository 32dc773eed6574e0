#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "diacut/outlines.hpp"

namespace diacut {

/// The corners of a ring, the first not repeated.
using RingCorners = std::vector<Corner>;

/// Which corners of pixels a ring has beside those where it turns.
struct RingVertices {
  bool junctions = false;  ///< Those where three regions or more meet.
  int step = 0;            ///< Those at every multiple of so many pixels along a side; 0: none.
};

/// trace_outlines() with more vertices.
Outlines trace_outlines(const Labels& labels, const RingVertices& vertices);

/// Takes a region whose rings are complete: the outer ring first, then the holes.
using TakeRings = std::function<void(std::int32_t label, std::vector<RingCorners>&& rings)>;
/// Adds the next row of labels of a picture, from the top; null: there are no more, so that the
/// regions that reach the lower edge are taken.
using AddRow = std::function<void(const std::int32_t* labels)>;

/// Finds the outlines of regions in one sweep over the rows of a picture. Each region must be
/// 4-connected. What is held are the outlines of the regions that rows above and below the sweep
/// share, side by side of pixels (12 bytes each), and two rows.
AddRow sweep_outlines(int width, const RingVertices& vertices, TakeRings take);

}  // namespace diacut
