#pragma once

#include <cstdint>
#include <vector>

#include "diacut/image.hpp"

namespace diacut {

/// CIE Lab (white point D65) of an sRGB picture, one plane after another, each width * height
/// values row by row: L in [0, 100], then, for colour, a and b in their natural units (within about
/// [-86, 99] and [-108, 95] for sRGB). A grey picture gives L alone. 0 in every plane where there
/// is no data. Returns image.channels * image.pixel_count() values.
/// Precondition: channels is 1 or 3, pixels.size() as Image says.
std::vector<float> lab_planes(const Image& image);

/// CIE Lab (white point D65) in 8 bits of an sRGB picture whose values are rounded to 8 bits first:
/// L 255 / 100, a + 128 and b + 128, each rounded, of a pixel side by side; a grey picture gives L
/// alone. A colour has the same numbers in every picture. Precondition: channels is 1 or 3,
/// pixels.size() as Image says.
std::vector<std::uint8_t> lab_bytes(const Image& image);

}  // namespace diacut
