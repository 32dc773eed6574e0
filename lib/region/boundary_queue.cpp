#include "region/boundary_queue.hpp"

#include <algorithm>
#include <limits>

#include "core/large_memory.hpp"

namespace diacut {

namespace {
constexpr std::size_t kChildren = 4;
}  // namespace

bool removed_before(const Boundary& a, double mean_a, const Boundary& b, double mean_b) {
  // Each mean is off by three roundings at most, of half an epsilon each.
  constexpr double kClose = 1 - 4 * std::numeric_limits<double>::epsilon();
  if (mean_a < mean_b * kClose) return true;
  if (mean_b < mean_a * kClose) return false;
  __extension__ using Wide = __int128;
  const Wide left = Wide{a.strength} * b.length;
  const Wide right = Wide{b.strength} * a.length;
  return left != right ? left < right : a.earliest < b.earliest;
}

BoundaryQueue::BoundaryQueue(const std::vector<Boundary>& boundaries,
                             const std::vector<char>& queued)
    : boundaries_(boundaries), place_(large_vector<Index>(boundaries.size())) {
  heap_.reserve(boundaries.size());
  prefer_large_pages(heap_.data(), boundaries.size() * sizeof(Entry));
  for (Index k = 0; k < boundaries.size(); ++k) {
    if (queued[k] == 0) continue;
    place_[k] = static_cast<Index>(heap_.size());
    heap_.push_back({boundaries[k].mean(), k});
  }
  for (std::size_t k = heap_.size() / kChildren + 1; k-- > 0;) sink(k);
}

void BoundaryQueue::remove(Index boundary) {
  const std::size_t hole = place_[boundary];
  const Entry last = heap_.back();
  heap_.pop_back();
  if (hole == heap_.size()) return;
  put(hole, last);
  settle(hole);
}

void BoundaryQueue::update(Index boundary) {
  const std::size_t at = place_[boundary];
  heap_[at].mean = boundaries_[boundary].mean();
  settle(at);
}

void BoundaryQueue::put(std::size_t at, const Entry& entry) {
  heap_[at] = entry;
  place_[entry.boundary] = static_cast<Index>(at);
}

void BoundaryQueue::settle(std::size_t at) {
  const Entry entry = heap_[at];
  while (at > 0 && before(entry, heap_[(at - 1) / kChildren])) {
    put(at, heap_[(at - 1) / kChildren]);
    at = (at - 1) / kChildren;
  }
  put(at, entry);
  sink(at);
}

void BoundaryQueue::sink(std::size_t at) {
  if (at >= heap_.size()) return;
  const Entry entry = heap_[at];
  for (;;) {
    const std::size_t begin = kChildren * at + 1;
    if (begin >= heap_.size()) break;
    const std::size_t end = std::min(begin + kChildren, heap_.size());
    std::size_t least = begin;
    for (std::size_t child = begin + 1; child < end; ++child) {
      if (before(heap_[child], heap_[least])) least = child;
    }
    if (!before(heap_[least], entry)) break;
    put(at, heap_[least]);
    at = least;
  }
  put(at, entry);
}

}  // namespace diacut
