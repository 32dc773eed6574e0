#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace diacut {

/// Disjoint sets of the numbers 0 to count - 1, each named by its least.
class DisjointSets {
 public:
  explicit DisjointSets(std::size_t count) : parent_(count) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }
  std::int32_t find(std::int32_t member) {
    while (parent_[member] != member) member = parent_[member] = parent_[parent_[member]];
    return member;
  }
  /// Returns the name of the union.
  std::int32_t unite(std::int32_t a, std::int32_t b) {
    const auto [least, other] = std::minmax({find(a), find(b)});
    return parent_[other] = least;
  }
  /// For each member the number of its set, from 1 on in the order of names; 0 for member 0, which
  /// counts for no set.
  std::vector<std::int32_t> numbers() {
    std::vector<std::int32_t> result(parent_.size(), 0);
    std::int32_t count = 0;
    for (std::int32_t member = 1; member < static_cast<std::int32_t>(result.size()); ++member) {
      const std::int32_t set = find(member);
      result[member] = set == member ? ++count : result[set];
    }
    return result;
  }

 private:
  std::vector<std::int32_t> parent_;
};

}  // namespace diacut
