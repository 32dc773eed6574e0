#pragma once

#include <cstdint>
#include <vector>

#include "diacut/labels.hpp"

namespace diacut {

/// The 4-connected pieces of a map of classes, width * height values row by row: pixels of equal
/// class that touch by an edge are in one part. Parts are numbered 1..count in scan order; pixels
/// of class 0 are in no part and have the number 0.
Labels connected_parts(int width, int height, const std::vector<std::int32_t>& classes);

}  // namespace diacut
