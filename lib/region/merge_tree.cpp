#include "region/merge_tree.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <queue>
#include <utility>

#include "region/pair_graph.hpp"

namespace diacut {

namespace {

/// Whether boundary `a` is removed before `b`: by the exact mean strength, then by the earliest
/// arc. `mean_a` and `mean_b`: a.mean() and b.mean().
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

/// A boundary as it was when it came into the queue, whose top is removed first.
struct Queued {
  Boundary boundary;
  double mean = 0;
  std::uint32_t index = 0;
  std::uint32_t version = 0;

  bool operator<(const Queued& other) const {
    return removed_before(other.boundary, other.mean, boundary, mean);
  }
};

float height_of(double mean) {
  return static_cast<float>(std::min(mean / static_cast<double>(kUnitStrength), 1.0));
}

}  // namespace

void Boundary::add(const Boundary& other) {
  strength += other.strength;
  length += other.length;
  earliest = std::min(earliest, other.earliest);
}

bool before(const Join& a, const Join& b) {
  return removed_before(a.removed, a.mean, b.removed, b.mean);
}

PartialMerging merge_boundaries(std::int32_t count, std::vector<Boundary> boundaries,
                                std::vector<char> waits, float most) {
  waits.resize(static_cast<std::size_t>(count) + 1, 0);
  PairGraph<Boundary> graph(std::move(boundaries), waits.size());
  const auto queued = [&](std::uint32_t k) -> Queued {
    return {graph[k], graph[k].mean(), k, graph.renewed_version(k)};
  };
  std::vector<Queued> all(graph.size());
  for (std::uint32_t k = 0; k < graph.size(); ++k) all[k] = queued(k);
  std::priority_queue<Queued> queue({}, std::move(all));
  PartialMerging result;
  while (!queue.empty()) {
    const Queued least = queue.top();
    queue.pop();
    if (graph.version(least.index) != least.version) continue;
    if (height_of(least.mean) > most) break;
    Boundary removed = graph[least.index];
    // What a region joins first depends on what waits, if the least of its boundaries does.
    if (waits[removed.first] != 0 || waits[removed.second] != 0) {
      waits[removed.first] = waits[removed.second] = 1;
      continue;
    }
    if (graph.most_pairs(removed.first) < graph.most_pairs(removed.second)) {
      std::swap(removed.first, removed.second);
    }
    result.joins.push_back({removed, least.mean});
    graph.join(least.index, removed.first, removed.second, [&](std::uint32_t k, bool united) {
      if (united) queue.push(queued(k));
    });
  }
  for (std::uint32_t k = 0; k < graph.size(); ++k) {
    if (graph.version(k) != graph.kGone) result.remaining.push_back(graph[k]);
  }
  return result;
}

std::vector<Merge> merges_of(std::int32_t count, const std::vector<Join>& joins) {
  std::vector<std::int32_t> node(static_cast<std::size_t>(count) + 1);
  std::iota(node.begin(), node.end(), 0);
  std::int32_t next = count + 1;
  std::vector<Merge> merges;
  merges.reserve(joins.size());
  for (const Join& join : joins) {
    const auto [first, second] = std::minmax(node[join.removed.first], node[join.removed.second]);
    merges.push_back({first, second, height_of(join.mean)});
    node[join.removed.first] = next++;
  }
  return merges;
}

std::vector<Boundary> boundaries_of(const std::vector<Arc>& arcs) {
  std::vector<Boundary> boundaries;
  boundaries.reserve(arcs.size());
  for (const Arc& arc : arcs) {
    boundaries.push_back(
        {arc.first, arc.second, arc.strength, arc.length, arc_order(arc.first, arc.second)});
  }
  return boundaries;
}

std::vector<Merge> merge_greedily(std::int32_t count, const std::vector<Arc>& arcs, float most) {
  return merges_of(count, merge_boundaries(count, boundaries_of(arcs), {}, most).joins);
}

}  // namespace diacut
