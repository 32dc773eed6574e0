#pragma once

#include <type_traits>
#include <vector>

namespace diacut::testing {

/// What a function of x and y gives for each pixel, row by row.
template <class Function>
auto by_pixel(int width, int height, const Function& function) {
  std::vector<std::decay_t<decltype(function(0, 0))>> values;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) values.push_back(function(x, y));
  }
  return values;
}

}  // namespace diacut::testing
