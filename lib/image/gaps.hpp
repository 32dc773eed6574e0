#pragma once

#include <vector>

#include "diacut/image.hpp"

namespace diacut {

/// The image's pixels, in its layout, of which those without data take the value of the nearest one
/// with data, so that they make no edge. Where none has data they are the image's own.
std::vector<float> filled_from_nearest(const Image& image);

}  // namespace diacut
