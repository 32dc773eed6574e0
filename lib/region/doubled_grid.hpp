#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "diacut/labels.hpp"
#include "region/meetings.hpp"

namespace diacut {

/// Heights on the doubled grid, laid out as ultrametric_map() describes. between(i, j) gives the
/// height between neighbouring pixels of different labels.
template <class Between>
std::vector<float> doubled_grid(const Labels& labels, const Between& between) {
  const auto width = static_cast<std::size_t>(labels.width);
  const std::size_t row = 2 * width + 1;
  const std::size_t rows = 2 * static_cast<std::size_t>(labels.height) + 1;
  std::vector<float> map(row * rows, 0.0F);
  neighbour_pairs(labels, [&](std::size_t i, std::size_t j) {
    if (labels.values[i] == labels.values[j]) return;
    const std::size_t pixel = (2 * (i / width) + 1) * row + 2 * (i % width) + 1;
    map[j - i == width ? pixel + row : pixel + 1] = between(i, j);
  });
  for (std::size_t y = 0; y < rows; y += 2) {
    for (std::size_t x = 0; x < row; x += 2) {
      float& crossing = map[y * row + x];
      if (y > 0) crossing = std::max(crossing, map[(y - 1) * row + x]);
      if (y + 1 < rows) crossing = std::max(crossing, map[(y + 1) * row + x]);
      if (x > 0) crossing = std::max(crossing, map[y * row + x - 1]);
      if (x + 1 < row) crossing = std::max(crossing, map[y * row + x + 1]);
    }
  }
  return map;
}

}  // namespace diacut
