#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace diacut {

/// A rectangle of a scene.
struct Window {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;

  std::size_t pixels() const {
    return static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  }
};

/// A raster divided into rectangles of at most this width and height, row by row.
inline std::vector<Window> windows_of(int width, int height, int most_width, int most_height) {
  std::vector<Window> windows;
  for (int y = 0; y < height; y += std::min(most_height, height - y)) {
    for (int x = 0; x < width; x += std::min(most_width, width - x)) {
      windows.push_back({x, y, std::min(most_width, width - x), std::min(most_height, height - y)});
    }
  }
  return windows;
}

/// The values of a window of a raster of this width, row by row. `channels`: values of a pixel.
template <class Value>
std::vector<Value> part_of(const std::vector<Value>& values, int width, const Window& window,
                           int channels = 1) {
  std::vector<Value> part;
  for (int y = window.y; y < window.y + window.height; ++y) {
    const auto row = values.begin() + (std::ptrdiff_t{y} * width + window.x) * channels;
    part.insert(part.end(), row, row + std::ptrdiff_t{window.width} * channels);
  }
  return part;
}

}  // namespace diacut
