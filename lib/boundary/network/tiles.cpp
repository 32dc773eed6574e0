#include "boundary/network/tiles.hpp"

#include <algorithm>

namespace diacut {

std::vector<NetworkTile> network_tiles(int side, int tile, int reach, int levels) {
  return network_tiles(side, {0, side}, tile, reach, levels);
}

std::vector<NetworkTile> network_tiles(int side, const Stretch& wanted, int tile, int reach,
                                       int levels) {
  const int step = 1 << levels;
  const auto up = [step](int at) { return (at + step - 1) / step * step; };
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
