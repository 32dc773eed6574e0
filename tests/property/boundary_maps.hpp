#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "diacut/image.hpp"

namespace diacut {

inline int random_int(std::mt19937& random, int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(random);
}

/// A boundary map as the contour stage gives it, and a mask.
struct BoundaryMaps {
  int width = 0;
  int height = 0;
  std::vector<float> strength = {};
  std::vector<float> orientation = {};
  std::vector<std::uint8_t> valid = {};
};

/// Rounded to so many levels, which makes plateaus.
inline float quantised(float value, int steps) {
  const auto count = static_cast<float>(steps);
  return std::round(value * count) / count;
}

/// Noise, rounded to so many levels unless that is 0. `holes`: the share of pixels without data.
inline BoundaryMaps random_maps(std::mt19937& random, int width, int height, int steps,
                                double holes) {
  BoundaryMaps maps{width, height};
  std::uniform_real_distribution<float> value(0, 1);
  for (int i = 0; i < width * height; ++i) {
    const float strength = value(random);
    maps.strength.push_back(steps > 0 ? quantised(strength, steps) : strength);
    maps.orientation.push_back(value(random) * std::numbers::pi_v<float>);
    if (holes > 0) maps.valid.push_back(value(random) < static_cast<float>(holes) ? 0 : 1);
  }
  return maps;
}

/// The gradient of a photograph's first channel over a few pixels. `steps`: to how many levels it
/// is rounded; 0: it is not.
inline BoundaryMaps gradient_of(const Image& image, int steps) {
  BoundaryMaps maps{image.width, image.height, {}, {}, image.valid};
  const auto at = [&](int x, int y) {
    const int u = std::clamp(x, 0, image.width - 1);
    const int v = std::clamp(y, 0, image.height - 1);
    return image.pixels[(v * image.width + u) * image.channels];
  };
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      const float dx = at(x + 2, y) - at(x - 2, y);
      const float dy = at(x, y + 2) - at(x, y - 2);
      const float strength = std::min(1.0F, std::hypot(dx, dy));
      maps.strength.push_back(steps > 0 ? quantised(strength, steps) : strength);
      maps.orientation.push_back(std::atan2(dy, dx));
    }
  }
  return maps;
}

inline Image repository_photograph(const std::string& name) {
  return read_image(std::string(DIACUT_SOURCE_DIR) + "/images/" + name);
}

}  // namespace diacut
