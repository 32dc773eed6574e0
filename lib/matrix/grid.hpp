#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace diacut {

/// How an image lies in a vector: pixel (x, y) is element y * stride + x. Elements between width
/// and stride belong to no pixel and have no affinity. Precondition: stride >= width >= 1,
/// height >= 1.
struct Grid {
  int width = 0;
  int height = 0;
  int stride = 0;

  std::size_t rows() const {
    return static_cast<std::size_t>(stride) * static_cast<std::size_t>(height);
  }
  std::size_t pixels() const {
    return static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  }
  bool operator==(const Grid&) const = default;
};

/// The width * height values of the pixels, row by row, out of grid.rows() elements.
inline std::vector<float> without_padding(std::span<const float> elements, const Grid& grid) {
  std::vector<float> pixels;
  pixels.reserve(grid.pixels());
  for (int y = 0; y < grid.height; ++y) {
    const auto row = elements.begin() + static_cast<std::ptrdiff_t>(y) * grid.stride;
    pixels.insert(pixels.end(), row, row + grid.width);
  }
  return pixels;
}

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
