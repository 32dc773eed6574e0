#pragma once

#include <cstddef>

namespace diacut {

/// How an image lies in a vector: pixel (x, y) is element y * width + x. Precondition: width >= 1,
/// height >= 1.
struct Grid {
  int width = 0;
  int height = 0;

  /// Its pixels, which are the rows of a matrix over it.
  std::size_t rows() const {
    return static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  }
  bool operator==(const Grid&) const = default;
};

/// Images of one size, one below the other on one grid, so that kernels over it serve all of them
/// in one launch. Image k begins at image row k * height; the rows between image.height and height
/// have no data, and there are enough of them that no affinity leads from one image to the next.
/// One image is a batch of itself.
struct Batch {
  Grid image;
  int count = 1;
  int height = 0;  ///< Image rows from one image to the next.

  /// Not explicit, because that is what one image means.
  Batch(const Grid& one) : image(one), height(one.height) {}
  /// `height`: >= one.height + the affinity's radius, if count > 1.
  Batch(const Grid& one, int count_of_images, int height_of_each)
      : image(one), count(count_of_images), height(height_of_each) {}

  Grid grid() const { return {image.width, height * count}; }
  /// Elements from one image to the next.
  std::size_t segment() const { return Grid{image.width, height}.rows(); }
};

}  // namespace diacut
