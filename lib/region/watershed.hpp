#pragma once

#include <cstdint>
#include <vector>

#include "region/parts.hpp"

namespace diacut {

/// Catchment basins of a map of boundary strength (S. Beucher and F. Meyer, "The morphological
/// approach to segmentation: the watershed transformation", 1993): water rises from the regional
/// minima, 4-connected, and basins stop where they meet. No pixel is left over for a line between
/// them: the crest's pixels belong to the side from which the slope is gentler, so that the border
/// between two pixels is the one nearest to the top of the crest.
///
/// strength: width * height values in [0, 1], row by row, told apart in steps of 1/65535. valid: 0
/// where there is no data; empty: every pixel has data. The result numbers the basins 1..count in
/// scan order, each 4-connected, 0 without data. Time: the pixels. Deterministic.
Parts watershed(const std::vector<float>& strength, const std::vector<std::uint8_t>& valid,
                int width, int height);

}  // namespace diacut
