#include "contour/suppression.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "contour/boundary_orientation.hpp"

namespace diacut {

namespace {

constexpr float kTolerance = 1.01F;
constexpr int kFade = 5;

float bilinear(std::span<const float> map, int width, int height, float x, float y) {
  x = std::clamp(x, 0.0F, static_cast<float>(width - 1));
  y = std::clamp(y, 0.0F, static_cast<float>(height - 1));
  const int x0 = static_cast<int>(x);
  const int y0 = static_cast<int>(y);
  const float right = x - static_cast<float>(x0);
  const float below = y - static_cast<float>(y0);
  const int x1 = std::min(x0 + 1, width - 1);
  const int y1 = std::min(y0 + 1, height - 1);
  const float* upper = map.data() + static_cast<std::size_t>(y0) * static_cast<std::size_t>(width);
  const float* lower = map.data() + static_cast<std::size_t>(y1) * static_cast<std::size_t>(width);
  return (1 - below) * ((1 - right) * upper[x0] + right * upper[x1]) +
         below * ((1 - right) * lower[x0] + right * lower[x1]);
}

/// The factor of a pixel at position `at` in a row or column of `size` pixels: less than 1 near its
/// ends.
float fade(int at, int size) {
  const int width = std::min(kFade, size / 2);
  const int from_border = std::min(at, size - 1 - at);
  return from_border >= width ? 1.0F : static_cast<float>(from_border) / static_cast<float>(width);
}

}  // namespace

std::vector<float> suppress_non_maxima(std::span<const float> boundary,
                                       std::span<const float> orientation, int width, int height) {
  check_map_size(boundary.size(), width, height, "boundary map");
  check_map_size(orientation.size(), width, height, "map of orientations");
  std::vector<float> thin(boundary.size());
  for (int y = 0; y < height; ++y) {
    const float row_share = fade(y, height);
    for (int x = 0; x < width; ++x) {
      const std::size_t i = static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                            static_cast<std::size_t>(x);
      if (!(boundary[i] > 0)) continue;
      const float dx = std::cos(orientation[i]);
      const float dy = std::sin(orientation[i]);
      const auto fx = static_cast<float>(x);
      const auto fy = static_cast<float>(y);
      const float least = kTolerance * boundary[i];
      if (least < bilinear(boundary, width, height, fx + dx, fy + dy)) continue;
      if (least < bilinear(boundary, width, height, fx - dx, fy - dy)) continue;
      thin[i] = boundary[i] * row_share * fade(x, width);
    }
  }
  return thin;
}

}  // namespace diacut
