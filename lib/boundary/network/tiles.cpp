#include "boundary/network/tiles.hpp"

#include <algorithm>

namespace diacut {

std::vector<NetworkTile> network_tiles(int side, int tile, int reach, int levels) {
  const int step = 1 << levels;
  const auto up = [step](int at) { return (at + step - 1) / step * step; };
  const int count = (side + tile - 1) / tile;
  const int core = up((side + count - 1) / count);
  std::vector<NetworkTile> tiles;
  for (int at = 0; at < side; at += core) {
    const int end = std::min(at + core, side);
    tiles.push_back({std::max(0, at - up(reach)), std::min(side, end + up(reach)), at, end});
  }
  return tiles;
}

}  // namespace diacut
