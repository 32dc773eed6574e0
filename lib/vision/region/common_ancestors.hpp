#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "diacut/hierarchy.hpp"
#include "diacut/labels.hpp"

namespace diacut {

/// Finds the lowest common ancestor of two leaves: the merge in which they meet, in log n steps for
/// n leaves: the merges are links of a union-find by size without path compression, and each link
/// knows its merge, so that merges rise along a path.
class CommonAncestors {
 public:
  /// For leaves that never meet.
  static constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();

  /// Preconditions: each merge joins two older nodes, and each node is merged at most once.
  explicit CommonAncestors(const Hierarchy& hierarchy);

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

}  // namespace diacut
