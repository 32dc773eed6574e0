#pragma once

#include <vector>

#include "matrix/stencil.hpp"

namespace diacut {

/// Bresenham's line (Algorithm for computer control of a digital plotter, IBM Systems Journal 4,
/// 1965) from (0, 0) to `end`: its pixels without the first and with the last. Each pixel is one
/// step along the axis in which the line is longer; along the other axis the line is rounded to the
/// nearest pixel, and a half away from the start.
std::vector<StencilOffset> bresenham(StencilOffset end);

}  // namespace diacut
