#include "core/connected_parts.hpp"

#include "core/disjoint_sets.hpp"

namespace diacut {

Labels connected_parts(int width, int height, const std::vector<std::int32_t>& classes) {
  const auto pixels = static_cast<std::int32_t>(classes.size());
  // A part's name is its first pixel in scan order.
  DisjointSets parts_of(classes.size());
  const auto is_one = [&](std::int32_t i, std::int32_t j) { return classes[i] == classes[j]; };
  for (std::int32_t i = 0; i < pixels; ++i) {
    if (classes[i] == 0) continue;
    if (i % width != 0 && is_one(i, i - 1)) parts_of.unite(i - 1, i);
    if (i >= width && is_one(i, i - width)) parts_of.unite(i - width, i);
  }
  Labels parts{width, height, 0, std::vector<std::int32_t>(classes.size(), 0)};
  for (std::int32_t i = 0; i < pixels; ++i) {
    if (classes[i] == 0) continue;
    const std::int32_t first = parts_of.find(i);
    parts.values[i] = first == i ? static_cast<std::int32_t>(++parts.count) : parts.values[first];
  }
  return parts;
}

}  // namespace diacut
