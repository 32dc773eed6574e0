#pragma once

#include "diacut/image.hpp"

namespace diacut {

/// A picture in colour of patches under noise, with boundaries of every strength; the same in every
/// run.
Image drawn_scene(int width, int height);

}  // namespace diacut
