#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/connected_parts.hpp"
#include "core/disjoint_sets.hpp"
#include "region/arcs/pair_graph.hpp"

namespace diacut {

/// The adjacency graph of parts, in which parts can be joined.
///
/// Two parts touch where pixels of theirs are 4-neighbours. Their affinity is the sum of W over
/// those pairs, because that is what a cut between them costs. Joining n parts takes time n log^2
/// n, because the part with fewer borders is folded into the part with more.
class PartGraph {
 public:
  /// right and down: W between each pixel and its right and lower neighbour, as AffinityGraph
  /// gives it. `group`, if not empty, has a number for each pixel, one number within each part:
  /// only parts with equal numbers touch. `counted`, if not empty: 1 for each pixel that counts in
  /// the size of its part, else 0.
  PartGraph(const Labels& parts, std::span<const float> right, std::span<const float> down,
            const std::vector<std::int32_t>& group = {},
            const std::vector<std::uint8_t>& counted = {});

  /// The number of parts that remain.
  std::int32_t count() const { return count_; }

  /// Joins parts of less than `min_size` counted pixels, the smallest first (then the first in scan
  /// order), to the neighbour with the strongest affinity (then the longest border, then the first
  /// in scan order), until none is left that has a neighbour. A group is left alone once
  /// `at_least` parts remain of it.
  void join_small(std::int64_t min_size, std::int32_t at_least);

  /// Joins the pair of neighbours that a cut keeps apart at the highest price, by
  /// affinity * (1/size + 1/size) as in the normalized cut, again and again until `target` parts
  /// remain or none has a neighbour.
  void join_alike(std::int32_t target);

  /// For each part 1..n of the constructor's parts (index 0: 0), the part that it has become:
  /// 1..count() in scan order.
  std::vector<std::int32_t> joined() const { return DisjointSets(joined_).numbers(); }

 private:
  /// What two parts have in common.
  struct Neighbours {
    std::int32_t first = 0;
    std::int32_t second = 0;
    double affinity = 0;
    std::int64_t length = 0;

    void add(const Neighbours& other) {
      affinity += other.affinity;
      length += other.length;
    }
  };
  struct Part {
    std::int64_t size = 0;  ///< Pixels that count.
    std::int32_t group = 0;
    std::int32_t joins = 0;  ///< Joins so far; entries of a queue with another number are outdated.
  };
  using Pairs = PairGraph<Neighbours>;

  /// The pair of a part and the neighbour that join_small() joins it to; size() of all pairs if it
  /// has no neighbour.
  Pairs::Index strongest(std::int32_t part);
  /// Joins a pair. Returns the part that holds both now.
  std::int32_t join(Pairs::Index pair);

  std::vector<Part> parts_;  ///< Index 0 is unused.
  DisjointSets joined_;      ///< Of the original parts: each set is named by its first one.
  std::vector<std::int32_t> group_count_;
  std::int32_t count_ = 0;
  Pairs pairs_;
};

}  // namespace diacut
