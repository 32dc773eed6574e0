#include "matrix/stencil.hpp"

namespace diacut {

Stencil disc_stencil(int radius) {
  Stencil stencil;
  stencil.radius = radius;
  for (int dy = -radius; dy <= radius; ++dy) {
    for (int dx = -radius; dx <= radius; ++dx) {
      if (dx * dx + dy * dy <= radius * radius) stencil.entries.push_back({dx, dy});
    }
  }
  return stencil;
}

}  // namespace diacut
