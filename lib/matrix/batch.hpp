#pragma once

#include <cstddef>

#include "matrix/grid.hpp"

namespace diacut {

/// Images of one size, one below the other on one grid, so that kernels over it serve all of them
/// in one launch. Image k begins at image row k * height; the rows between image.height and height
/// have no data, and there are enough of them that no affinity leads from one image to the next.
/// One image is a batch of itself.
struct Batch {
  Grid image;
  int count = 1;
  int height = 0;  ///< Image rows from one image to the next.

  explicit Batch(const Grid& one) : image(one), height(one.height) {}
  /// `height`: >= one.height + the affinity's radius, if count > 1.
  Batch(const Grid& one, int count_of_images, int height_of_each)
      : image(one), count(count_of_images), height(height_of_each) {}

  Grid grid() const { return {image.width, height * count, image.stride}; }
  /// Elements from one image to the next.
  std::size_t segment() const {
    return static_cast<std::size_t>(image.stride) * static_cast<std::size_t>(height);
  }
};

}  // namespace diacut
