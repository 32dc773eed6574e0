#pragma once

#include <cstddef>

namespace diacut {

/// Throws InputError, naming the map `what`, unless width and height are positive and `found`, the
/// number of its values, is width * height.
void check_map_size(std::size_t found, int width, int height, const char* what);

}  // namespace diacut
