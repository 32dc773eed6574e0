#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace diacut {

/// Z. Guo and R. W. Hall, "Parallel thinning with two-subiteration algorithms", 1989, until nothing
/// changes: lines one pixel wide, 8-connected as the mask was. `mask`: width * height values row by
/// row, set where not 0; outside the image nothing is set. Returns 0 and 1.
std::vector<std::uint8_t> thin(std::span<const std::uint8_t> mask, int width, int height);

}  // namespace diacut
