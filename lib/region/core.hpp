#pragma once

#include <cstdint>
#include <vector>

#include "diacut/labels.hpp"

namespace diacut {

/// Marks the pixels that are left of each region when its outermost layer of pixels is peeled off,
/// but for pixels that connect what is left or end a line (thinning: C. J. Hilditch, "Linear
/// skeletons from square cupboards", 1969). One value a pixel, 1 or 0; 0 where the label is 0.
/// Every region keeps at least one pixel, and what it keeps is 4-connected if the region is.
/// The border of the picture is no boundary. Time: the pixels. Deterministic.
std::vector<std::uint8_t> region_cores(const Labels& labels);

}  // namespace diacut
