#pragma once

#include "diacut/edges.hpp"

namespace diacut {

/// Throws InputError unless the map is one of an image of width x height pixels, and its values lie
/// in [0, 1].
void check_edges(const EdgeMap& edges, int width, int height);

}  // namespace diacut
