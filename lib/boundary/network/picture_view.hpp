#pragma once

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

}  // namespace diacut
