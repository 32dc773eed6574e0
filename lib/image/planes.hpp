#pragma once

#include <vector>

#include "diacut/image.hpp"

namespace diacut {

/// The picture's sRGB values in three planes of width * height values in [0, 1], one plane after
/// another, each row by row; a grey picture gives the same plane thrice. Resized where the size
/// asked for is another than the picture's (means of areas to shrink, cubic to enlarge), then
/// mirrored beyond its edges by `border` pixels on each side, which the planes are then larger by.
/// Pixels without data take the value of the nearest one with data, so that they make no edge;
/// where none has data all are 0. Precondition: channels is 1 or 3, width and height at least 1.
std::vector<float> srgb_planes(const Image& image, int width, int height, int border = 0);

}  // namespace diacut
