#pragma once

#include <vector>

#include "matrix/grid.hpp"

namespace diacut {

/// A part of a picture for which a map is wanted, and the larger part whose pixels are there.
struct PictureView {
  int width = 0;   ///< Of the picture.
  int height = 0;  ///< Of the picture.
  int x = 0;       ///< Where the grid of the map lies in the picture.
  int y = 0;
  int image_x = 0;  ///< Where the image lies in the picture.
  int image_y = 0;
};

/// The map of a whole picture is wanted, and the image is the picture.
inline PictureView whole_picture(const Grid& grid) { return {grid.width, grid.height, 0, 0, 0, 0}; }

/// Some consecutive pixels of a side.
struct Stretch {
  int begin = 0;
  int end = 0;

  int length() const { return end - begin; }
};

/// A stretch of a side that a network computes at once, in pixels: it reads pixels `begin` to `end`
/// and its results hold for `core_begin` to `core_end`. The pixels around the core are the
/// receptive field of the core's edge.
struct NetworkTile {
  int begin = 0;
  int end = 0;
  int core_begin = 0;
  int core_end = 0;
};

/// The most pixels that a tile of any stretch of the side reads.
int longest_network_tile(int side, int tile, int reach, int levels);

/// Divides a stretch of a side of `side` pixels into the fewest tiles with cores of about `tile`
/// pixels, alike in size. A begin or end inside of the side is a multiple of a step of 4 *
/// 2^levels, so that at every level a tile begins with a group of StripTile::kWinogradRows rows of
/// the undivided side. The cores cover the stretch, and up to a step less one pixel more at either
/// end. `reach` is Network::reach().
std::vector<NetworkTile> network_tiles(int side, const Stretch& wanted, int tile, int reach,
                                       int levels);

}  // namespace diacut
