#include "boundary/network/tiles.hpp"

#include <algorithm>

#include "boundary/network/convolutions.hpp"

namespace diacut {

namespace {

/// Tiles begin and end at multiples of this many pixels.
int step_of(int levels) { return StripTile::kWinogradRows << levels; }

/// `pixels`, rounded up to a whole step.
int rounded_up(int pixels, int levels) {
  const int step = step_of(levels);
  return (pixels + step - 1) / step * step;
}

}  // namespace

int longest_network_tile(int side, int tile, int reach, int levels) {
  return std::min(side, rounded_up(tile, levels) + 2 * rounded_up(reach, levels));
}

std::vector<NetworkTile> network_tiles(int side, const Stretch& wanted, int tile, int reach,
                                       int levels) {
  const int around = rounded_up(reach, levels);
  const int step = step_of(levels);
  const int first = wanted.begin / step * step;
  const int last = std::min(rounded_up(wanted.end, levels), side);
  const int count = (last - first + tile - 1) / tile;
  const int core = rounded_up((last - first + count - 1) / count, levels);
  std::vector<NetworkTile> tiles;
  for (int at = first; at < last; at += core) {
    const int end = std::min(at + core, last);
    tiles.push_back({std::max(0, at - around), std::min(side, end + around), at, end});
  }
  return tiles;
}

}  // namespace diacut
