#pragma once

#include <vector>

#include "diacut/image.hpp"

namespace diacut {

/// The pixels of an image, in its layout, in which each pixel without data has the value of the
/// nearest pixel with data, so that it makes no edge. Where no pixel has data nothing is changed.
std::vector<float> filled_from_nearest(const Image& image);

}  // namespace diacut
