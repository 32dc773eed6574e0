#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace diacut {

/// The common boundary of two regions: an arc, or several that became one. Gone when its length is
/// 0.
struct Boundary {
  std::int32_t first = 0;
  std::int32_t second = 0;
  std::int64_t strength = 0;  ///< As Arc::strength.
  std::int64_t length = 0;    ///< As Arc::length.
  /// The arc_order() of the first of its arcs.
  std::uint64_t earliest = 0;

  /// The mean strength, rounded.
  double mean() const { return static_cast<double>(strength) / static_cast<double>(length); }
};

/// Numbers in the order of arcs: by the first part, then by the second.
inline std::uint64_t arc_order(std::int32_t first, std::int32_t second) {
  return std::uint64_t{static_cast<std::uint32_t>(first)} << 32 |
         static_cast<std::uint32_t>(second);
}

/// Whether boundary `a` is removed before `b`: by the exact mean strength, then by the earliest
/// arc. `mean_a` and `mean_b`: a.mean() and b.mean().
bool removed_before(const Boundary& a, double mean_a, const Boundary& b, double mean_b);

/// Boundaries in the order of removed_before(): a heap with four children a node, in which a
/// boundary can change its place.
class BoundaryQueue {
 public:
  using Index = std::uint32_t;

  /// Holds those of `boundaries` for which `queued` is not 0. `boundaries` must outlive the queue.
  BoundaryQueue(const std::vector<Boundary>& boundaries, const std::vector<char>& queued);

  bool empty() const { return heap_.empty(); }
  Index first() const { return heap_.front().boundary; }
  /// Precondition of remove() and update(): the queue holds the boundary.
  void remove(Index boundary);
  /// After its strength, length or earliest arc has changed.
  void update(Index boundary);

 private:
  struct Entry {
    double mean = 0;
    Index boundary = 0;
  };

  bool before(const Entry& a, const Entry& b) const {
    return removed_before(boundaries_[a.boundary], a.mean, boundaries_[b.boundary], b.mean);
  }
  void put(std::size_t at, const Entry& entry);
  void settle(std::size_t at);
  void sink(std::size_t at);

  const std::vector<Boundary>& boundaries_;
  std::vector<Index> place_;  ///< By boundary.
  std::vector<Entry> heap_;
};

}  // namespace diacut
