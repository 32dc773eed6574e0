#pragma once

#include <span>
#include <vector>

namespace diacut {

/// Non-maximum suppression of a boundary map, as edge detectors since Canny (1986) do it: a pixel
/// is kept where its value is the largest across the boundary.
///
/// `boundary` and the result are maps of width * height values row by row, each finite and at least
/// 0. Throws InputError when a map has another number of values.
///
/// Returns the map with 0 at each pixel where 1.01 times its value is less than one of the two
/// values one pixel away along `orientation` (the angles of boundary_orientation()). Values between
/// pixels are bilinear; outside of the image the nearest pixel counts. The outer 5 pixels, where
/// half of each filter lies outside of the image, fade linearly to 0 at the border; in a map less
/// than 10 pixels wide or high the outer half does.
std::vector<float> suppress_non_maxima(std::span<const float> boundary,
                                       std::span<const float> orientation, int width, int height);

}  // namespace diacut
