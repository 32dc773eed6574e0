#pragma once

#include <vector>

#include "region/arcs.hpp"

namespace diacut {

/// Puts the boundaries together that tiles have cut, each from crossing to crossing or around, and
/// sums the strengths along them as find_arcs() does for the whole picture. Corners and parts are
/// numbered as in the whole picture. One arc for each boundary. Throws InputError where one does
/// not go on in another tile.
std::vector<Arc> join_open_boundaries(const std::vector<OpenBoundary>& open, double direction);

}  // namespace diacut
