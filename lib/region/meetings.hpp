#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "diacut/hierarchy.hpp"
#include "diacut/labels.hpp"

namespace diacut {

/// Finds the merge of a hierarchy in which two leaves meet, in log n steps for n leaves: the merges
/// are links of a union-find by size without path compression, and each link knows its merge, so
/// that merges rise along a path.
class Meetings {
 public:
  /// For leaves that never meet.
  static constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();

  /// Preconditions: each merge joins two older nodes, and each node is merged at most once.
  explicit Meetings(const Hierarchy& hierarchy)
      : Meetings(static_cast<std::int32_t>(hierarchy.leaves.count), hierarchy.merges) {}
  Meetings(std::int32_t leaves, const std::vector<Merge>& merges);

  /// The index of the merge, or kNever. Precondition: a and b are different leaves.
  std::size_t merge_of(std::int32_t a, std::int32_t b) const;

 private:
  std::vector<std::int32_t> parent_;
  std::vector<std::size_t> link_;
};

/// Calls visit(i, j) for each pixel i and its right and its lower neighbour j.
template <class Visit>
void neighbour_pairs(const Labels& labels, const Visit& visit) {
  const auto width = static_cast<std::size_t>(labels.width);
  std::size_t i = 0;
  for (int y = 0; y < labels.height; ++y) {
    const bool last_row = y + 1 == labels.height;
    for (int x = 0; x < labels.width; ++x, ++i) {
      if (x + 1 < labels.width) visit(i, i + 1);
      if (!last_row) visit(i, i + width);
    }
  }
}

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
