#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace diacut {

/// Thins a mask to lines one pixel wide that are 8-connected where the mask was, by the algorithm
/// of Z. Guo and R. W. Hall ("Parallel thinning with two-subiteration algorithms", 1989), repeated
/// until nothing changes. `mask` has width * height values, row by row, and is set where they are
/// not 0; outside of the image it counts as not set. Returns width * height values 0 and 1.
std::vector<std::uint8_t> thin(std::span<const std::uint8_t> mask, int width, int height);

}  // namespace diacut
