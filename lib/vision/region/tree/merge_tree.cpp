#include "region/tree/merge_tree.hpp"

#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

#include "core/parallel.hpp"
#include "region/arcs/pair_graph.hpp"

namespace diacut {

namespace {

/// Fewer parts are not worth a block of their own; and the most blocks.
constexpr std::int32_t kLeastBlock = 512;
constexpr std::int32_t kMostBlocks = 64;

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

/// A boundary as it was when it came into the queue.
struct Strength {
  Boundary boundary;
  double mean = 0;

  bool operator<(const Strength& other) const {
    return removed_before(boundary, mean, other.boundary, other.mean);
  }
};

float height_of(double mean) {
  return static_cast<float>(std::min(mean / static_cast<double>(kUnitStrength), 1.0));
}

/// merge_boundaries() one join after the other.
PartialMerging merge_in_turn(std::int32_t count, std::vector<Boundary> boundaries,
                             std::vector<char> waits, float most) {
  waits.resize(std::max(waits.size(), static_cast<std::size_t>(count) + 1), 0);
  PairGraph<Boundary> graph(std::move(boundaries), waits.size());
  const auto strength = [&](std::uint32_t k) { return Strength{graph[k], graph[k].mean()}; };
  PairQueue<Boundary, Strength> queue(graph, strength);
  PartialMerging result;
  while (const auto least = queue.take()) {
    const auto& [boundary, mean] = least->weight;
    if (height_of(mean) > most) break;
    Boundary removed = graph[least->pair];
    // What a region joins first depends on what waits, if the least of its boundaries does.
    if (waits[removed.first] != 0 || waits[removed.second] != 0) {
      waits[removed.first] = waits[removed.second] = 1;
      continue;
    }
    if (graph.most_pairs(removed.first) < graph.most_pairs(removed.second)) {
      std::swap(removed.first, removed.second);
    }
    result.joins.push_back({removed, mean});
    graph.join(least->pair, removed.first, removed.second, [&](std::uint32_t k, bool united) {
      if (united) queue.push(k, strength(k));
    });
  }
  for (std::uint32_t k = 0; k < graph.size(); ++k) {
    if (graph.version(k) != graph.kGone) result.remaining.push_back(graph[k]);
  }
  return result;
}

}  // namespace

bool before(const Join& a, const Join& b) {
  return removed_before(a.removed, a.mean, b.removed, b.mean);
}

PartialMerging merge_boundaries(std::int32_t count, std::vector<Boundary> boundaries,
                                std::vector<char> waits, float most) {
  // Blocks of parts with consecutive numbers first, on all cores: what they work on stays in
  // caches.
  const std::int32_t parts = std::max(kLeastBlock, count / kMostBlocks + 1);
  const std::int32_t blocks = count / parts + 1;
  if (blocks == 1) return merge_in_turn(count, std::move(boundaries), std::move(waits), most);
  waits.resize(static_cast<std::size_t>(blocks) * parts, 0);
  std::vector<char> waits_in_block = waits;
  std::vector<std::vector<Boundary>> within(static_cast<std::size_t>(blocks));
  std::vector<Boundary> rest;
  for (Boundary& boundary : boundaries) {
    const std::int32_t block = boundary.first / parts;
    if (boundary.second / parts == block) {
      boundary.first -= block * parts;
      boundary.second -= block * parts;
      within[block].push_back(boundary);
    } else {
      waits_in_block[boundary.first] = waits_in_block[boundary.second] = 1;
      rest.push_back(boundary);
    }
  }
  std::vector<Boundary>().swap(boundaries);
  std::vector<PartialMerging> merged(within.size());
  parallel_for(blocks, [&](int k) {
    const auto begin = waits_in_block.begin() + std::ptrdiff_t{k} * parts;
    merged[k] = merge_in_turn(parts - 1, std::move(within[k]), {begin, begin + parts}, most);
  });
  PartialMerging result;
  const auto name = [&](Boundary boundary, std::int32_t block) {
    boundary.first += block * parts;
    boundary.second += block * parts;
    return boundary;
  };
  for (std::int32_t block = 0; block < blocks; ++block) {
    for (Join& join : merged[block].joins) {
      result.joins.push_back({name(join.removed, block), join.mean});
    }
    for (const Boundary& boundary : merged[block].remaining) rest.push_back(name(boundary, block));
    merged[block] = {};
  }
  PartialMerging last = merge_in_turn(count, std::move(rest), std::move(waits), most);
  result.joins.insert(result.joins.end(), last.joins.begin(), last.joins.end());
  std::sort(result.joins.begin(), result.joins.end(), before);
  result.remaining = std::move(last.remaining);
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
  for (const Arc& arc : arcs) boundaries.push_back({arc, arc_order(arc.first, arc.second)});
  return boundaries;
}

std::vector<Merge> merge_greedily(std::int32_t count, const std::vector<Arc>& arcs, float most) {
  return merges_of(count, merge_boundaries(count, boundaries_of(arcs), {}, most).joins);
}

}  // namespace diacut
