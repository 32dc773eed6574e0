#pragma once

#include <vector>

#include "output/png.hpp"

namespace diacut {

/// `count` colours (at most 256) that are easy to tell apart. The first is black. Each further
/// colour is chosen among colours that are neither very dark nor very light, and far from the few
/// colours before it: it is the one farthest in Lab from all colours before it (C. Glasbey et al.,
/// "Colour displays for categorical images", 2007). Consecutive labels differ clearly, and the
/// first few labels the most. Every call returns these colours.
std::vector<Colour> distinct_colours(int count);

}  // namespace diacut
