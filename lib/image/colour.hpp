#pragma once

#include <vector>

#include "diacut/image.hpp"

namespace diacut {

/// CIE Lab (white point D65) of an sRGB picture, one plane after another, each width * height
/// values row by row: L in [0, 100], then, for colour, a and b in their natural units (within about
/// [-86, 99] and [-108, 95] for sRGB). A grey picture gives L alone. 0 in every plane where there
/// is no data. Returns image.channels * image.pixel_count() values.
/// Precondition: channels is 1 or 3, pixels.size() as Image says.
std::vector<float> lab_planes(const Image& image);

}  // namespace diacut
