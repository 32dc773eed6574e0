#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "diacut/outlines.hpp"

namespace diacut {

/// The corners of a ring, the first not repeated.
using RingCorners = std::vector<Corner>;

/// trace_outlines(). `junctions`: whether rings have the corners of pixels where three regions or
/// more meet, beside those where they turn.
Outlines trace_outlines(const Labels& labels, bool junctions);

/// Takes a region whose rings are complete: the outer ring first, then the holes.
using TakeRings = std::function<void(std::int32_t label, std::vector<RingCorners>&& rings)>;
/// Adds the next row of labels of a picture, from the top; null: there are no more, so that the
/// regions that reach the lower edge are taken.
using AddRow = std::function<void(const std::int32_t* labels)>;

/// Finds the outlines of regions in one sweep over the rows of a picture. Each region must be
/// 4-connected. What is held are the outlines of the regions that rows above and below the sweep
/// share, side by side of pixels (12 bytes each), and two rows.
AddRow sweep_outlines(int width, bool junctions, TakeRings take);

}  // namespace diacut
