#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace diacut {

/// One neighbour of a pixel: dx to the right, dy down.
struct StencilOffset {
  int dx = 0;
  int dy = 0;
  bool operator==(const StencilOffset&) const = default;
};

/// The neighbours of a pixel in reading order (by dy, then dx). Symmetric: entry k is the opposite
/// of entry size() - 1 - k, so the pixel itself is the middle one. The neighbours are those of a
/// disc, or of discs that are stretched by strides; a disc of radius 5 has 81 entries in 11 bands
/// (runs of equal dy and neighbouring dx).
struct Stencil {
  int radius = 0;                  ///< The largest |dx| and |dy|.
  int disc_radius = 0;             ///< The radius of the discs.
  std::vector<int> strides = {1};  ///< Of the discs, ascending; the first is 1.
  std::vector<StencilOffset> entries;

  std::size_t size() const { return entries.size(); }
  std::size_t centre() const { return entries.size() / 2; }
  /// Whether the neighbours are those of one disc.
  bool is_disc() const { return strides.size() == 1; }
  /// Whether an entry belongs to the disc of stride 1.
  bool in_disc(const StencilOffset& entry) const {
    return entry.dx * entry.dx + entry.dy * entry.dy <= disc_radius * disc_radius;
  }
  std::size_t opposite(std::size_t k) const { return entries.size() - 1 - k; }
  /// The entry that is this neighbour; size() if none is.
  std::size_t index(StencilOffset neighbour) const {
    const auto found = std::lower_bound(entries.begin(), entries.end(), neighbour,
                                        [](const StencilOffset& a, const StencilOffset& b) {
                                          return a.dy < b.dy || (a.dy == b.dy && a.dx < b.dx);
                                        });
    const bool is_entry = found != entries.end() && *found == neighbour;
    return static_cast<std::size_t>((is_entry ? found : entries.end()) - entries.begin());
  }
};

/// The neighbours within `radius`, dx^2 + dy^2 <= radius^2. Precondition: 0 <= radius.
Stencil disc_stencil(int radius);

/// The neighbours of discs of `radius` whose offsets are multiplied by each of the strides.
/// Precondition: 0 <= radius; strides are as Stencil::strides.
Stencil strided_stencil(int radius, const std::vector<int>& strides);

}  // namespace diacut
