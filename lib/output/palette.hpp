#pragma once

#include <vector>

#include "output/png.hpp"

namespace diacut {

/// `count` colours (at most 256) that are easy to tell apart: the first is black; each further one
/// is, among colours that are neither very dark nor very light and far from the few before it, the
/// one farthest in Lab from all before it (Glasbey et al. 2007). So consecutive labels differ
/// clearly, and the first few labels the most. The same colours every time.
std::vector<Colour> distinct_colours(int count);

}  // namespace diacut
