#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace diacut {

/// One neighbour of a pixel: dx to the right, dy down.
struct StencilOffset {
  int dx = 0;
  int dy = 0;
  bool operator==(const StencilOffset&) const = default;
};

/// The neighbours within `radius`, dx^2 + dy^2 <= radius^2, in reading order (by dy, then dx).
/// Symmetric: entry k is the opposite of entry size() - 1 - k, so the pixel itself is the middle
/// one. Radius 5 has 81 entries in 11 bands (runs of equal dy).
struct Stencil {
  int radius = 0;
  std::vector<StencilOffset> entries;

  std::size_t size() const { return entries.size(); }
  std::size_t centre() const { return entries.size() / 2; }
  std::size_t opposite(std::size_t k) const { return entries.size() - 1 - k; }
  /// The entry that is this neighbour; size() if none is.
  std::size_t index(StencilOffset neighbour) const {
    return static_cast<std::size_t>(std::find(entries.begin(), entries.end(), neighbour) -
                                    entries.begin());
  }
};

/// Precondition: 0 <= radius.
Stencil disc_stencil(int radius);

}  // namespace diacut
