#include "boundary/network/tiles.hpp"

#include <algorithm>

namespace diacut {

namespace {

int whole_squares(int pixels, int levels) {
  const int step = 1 << levels;
  return (pixels + step - 1) / step * step;
}

}  // namespace

std::vector<NetworkTile> network_tiles(int side, int tile, int reach, int levels) {
  return network_tiles(side, {0, side}, tile, reach, levels);
}

int longest_network_tile(int side, int tile, int reach, int levels) {
  return std::min(side, whole_squares(tile, levels) + 2 * whole_squares(reach, levels));
}

std::vector<NetworkTile> network_tiles(int side, const Stretch& wanted, int tile, int reach,
                                       int levels) {
  const auto up = [levels](int at) { return whole_squares(at, levels); };
  const int step = 1 << levels;
  const int first = wanted.begin / step * step;
  const int last = std::min(up(wanted.end), side);
  const int count = (last - first + tile - 1) / tile;
  const int core = up((last - first + count - 1) / count);
  std::vector<NetworkTile> tiles;
  for (int at = first; at < last; at += core) {
    const int end = std::min(at + core, last);
    tiles.push_back({std::max(0, at - up(reach)), std::min(side, end + up(reach)), at, end});
  }
  return tiles;
}

}  // namespace diacut
