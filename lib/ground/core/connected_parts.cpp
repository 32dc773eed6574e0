#include "core/connected_parts.hpp"

#include <algorithm>

#include "core/disjoint_sets.hpp"

namespace diacut {

Labels connected_parts(int width, int height, const std::vector<std::int32_t>& classes) {
  Labels parts{width, height, 0, std::vector<std::int32_t>(classes.size(), 0)};
  std::vector<std::int32_t>& run = parts.values;  // Runs of a class in a row, from 1 on.
  std::int32_t runs = 0;
  const auto begins = [&](std::size_t i, int x) { return x == 0 || classes[i - 1] != classes[i]; };
  const auto each_pixel = [&](int first_row, const auto& visit) {
    std::size_t i = static_cast<std::size_t>(first_row) * width;
    for (int y = first_row; y < height; ++y) {
      for (int x = 0; x < width; ++x, ++i) {
        if (classes[i] != 0) visit(i, x);
      }
    }
  };
  each_pixel(0, [&](std::size_t i, int x) { run[i] = begins(i, x) ? ++runs : run[i - 1]; });
  DisjointSets sets(static_cast<std::size_t>(runs) + 1);
  each_pixel(1, [&](std::size_t i, int x) {
    const std::size_t above = i - width;
    // Two runs meet first where one of them begins.
    if (classes[above] == classes[i] && (begins(i, x) || begins(above, x))) {
      sets.unite(run[above], run[i]);
    }
  });
  const std::vector<std::int32_t> number = sets.numbers();
  parts.count = *std::max_element(number.begin(), number.end());
  for (std::int32_t& each : run) each = number[each];
  return parts;
}

}  // namespace diacut
