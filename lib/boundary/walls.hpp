#pragma once

#include <cstdint>
#include <vector>

#include "boundary/boundary.hpp"

namespace diacut {

/// Makes pixels walls, which have no data and through which no affinity reaches
/// (kernels/affinity/intervening_contour.cl): their strength becomes kWall. `walls`: for each pixel
/// of the image whether it is one. Waits.
void add_walls(BoundaryMap& map, const std::vector<std::uint8_t>& walls);

/// The strength of a wall: more than any boundary has.
inline constexpr float kWall = 2;

}  // namespace diacut
