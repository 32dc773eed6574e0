#include "matrix/stencil.hpp"

#include <utility>

namespace diacut {

Stencil disc_stencil(int radius) {
  Stencil stencil;
  stencil.radius = radius;
  stencil.disc_radius = radius;
  for (int dy = -radius; dy <= radius; ++dy) {
    for (int dx = -radius; dx <= radius; ++dx) {
      if (dx * dx + dy * dy <= radius * radius) stencil.entries.push_back({dx, dy});
    }
  }
  return stencil;
}

Stencil strided_stencil(int radius, const std::vector<int>& strides) {
  Stencil stencil = disc_stencil(radius);
  if (strides.size() == 1) return stencil;
  stencil.strides = strides;
  stencil.radius = radius * strides.back();
  stencil.entries.clear();
  for (const int stride : strides) {
    for (const auto& [dx, dy] : disc_stencil(radius).entries) {
      stencil.entries.push_back({dx * stride, dy * stride});
    }
  }
  const auto key = [](const StencilOffset& entry) { return std::pair(entry.dy, entry.dx); };
  std::sort(stencil.entries.begin(), stencil.entries.end(),
            [&](const auto& a, const auto& b) { return key(a) < key(b); });
  stencil.entries.erase(std::unique(stencil.entries.begin(), stencil.entries.end()),
                        stencil.entries.end());
  return stencil;
}

}  // namespace diacut
