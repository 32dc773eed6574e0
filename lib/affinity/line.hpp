#pragma once

#include <vector>

#include "matrix/stencil.hpp"

namespace diacut {

/// Bresenham's line (Algorithm for computer control of a digital plotter, IBM Systems Journal 4,
/// 1965) from (0, 0) to `end`: its pixels after the first, the end included. One step of the longer
/// axis a pixel; the other axis is rounded to the nearest pixel, a half away from the start.
std::vector<StencilOffset> bresenham(StencilOffset end);

}  // namespace diacut
