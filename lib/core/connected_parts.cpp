#include "core/connected_parts.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace diacut {

namespace {

std::size_t find_root(std::vector<std::size_t>& parent, std::size_t node) {
  while (parent[node] != node) {
    parent[node] = parent[parent[node]];
    node = parent[node];
  }
  return node;
}

}  // namespace

Parts connected_parts(int width, int height, const std::vector<std::int32_t>& classes) {
  const std::size_t pixels = classes.size();
  std::vector<std::size_t> parent(pixels);
  std::iota(parent.begin(), parent.end(), std::size_t{0});
  // The root is the smaller index, so a part's root is its first pixel in scan order.
  const auto unite = [&](std::size_t a, std::size_t b) {
    a = find_root(parent, a);
    b = find_root(parent, b);
    parent[std::max(a, b)] = std::min(a, b);
  };
  const auto stride = static_cast<std::size_t>(width);
  for (std::size_t i = 0; i < pixels; ++i) {
    if (classes[i] == 0) continue;
    if (i % stride != 0 && classes[i - 1] == classes[i]) unite(i - 1, i);
    if (i >= stride && classes[i - stride] == classes[i]) unite(i - stride, i);
  }
  Parts parts{width, height, 0, std::vector<std::int32_t>(pixels, 0)};
  for (std::size_t i = 0; i < pixels; ++i) {
    if (classes[i] == 0) continue;
    const std::size_t root = find_root(parent, i);
    parts.of_pixel[i] = root == i ? ++parts.count : parts.of_pixel[root];
  }
  return parts;
}

}  // namespace diacut
