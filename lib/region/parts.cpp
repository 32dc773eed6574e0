#include "region/parts.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>

namespace diacut {

PartGraph::PartGraph(const Parts& parts, const std::vector<float>& right,
                     const std::vector<float>& down, const std::vector<std::uint8_t>& counted,
                     const std::vector<std::int32_t>& group)
    : parts_(static_cast<std::size_t>(parts.count) + 1),
      parent_(static_cast<std::size_t>(parts.count) + 1),
      count_(parts.count) {
  std::iota(parent_.begin(), parent_.end(), 0);
  for (std::int32_t part = 1; part <= count_; ++part) parts_[part].first = part;
  const auto add_border = [&](std::int32_t a, std::int32_t b, float affinity) {
    if (a == b || a == 0 || b == 0) return;
    for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)}) {
      Border& border = parts_[from].borders[to];
      border.affinity += affinity;
      ++border.length;
    }
  };
  const auto alike = [&](std::size_t i, std::size_t j) {
    return group.empty() || group[i] == group[j];
  };
  const auto width = static_cast<std::size_t>(parts.width);
  const std::vector<std::int32_t>& of = parts.of_pixel;
  for (std::size_t i = 0; i < of.size(); ++i) {
    if (of[i] == 0) continue;
    parts_[of[i]].size += counted.empty() ? 1 : counted[i];
    if (!group.empty()) parts_[of[i]].group = group[i];
    if ((i + 1) % width != 0 && alike(i, i + 1)) add_border(of[i], of[i + 1], right[i]);
    if (i + width < of.size() && alike(i, i + width)) add_border(of[i], of[i + width], down[i]);
  }
  group_count_.assign(group.empty() ? 1 : *std::max_element(group.begin(), group.end()) + 1, 0);
  for (std::int32_t part = 1; part <= count_; ++part) ++group_count_[parts_[part].group];
}

std::int32_t PartGraph::strongest_neighbour(std::int32_t part) const {
  std::int32_t best = 0;
  const Border* best_border = nullptr;
  for (const auto& [other, border] : parts_[part].borders) {
    const auto rank = [&](std::int32_t id, const Border& of) {
      return std::tuple(-of.affinity, -of.length, parts_[id].first);
    };
    if (best == 0 || rank(other, border) < rank(best, *best_border)) {
      best = other;
      best_border = &border;
    }
  }
  return best;
}

std::int32_t PartGraph::join(std::int32_t a, std::int32_t b) {
  if (parts_[a].borders.size() < parts_[b].borders.size()) std::swap(a, b);
  Part& into = parts_[a];
  Part& from = parts_[b];
  into.borders.erase(b);
  for (const auto& [other, border] : from.borders) {
    if (other == a) continue;
    for (Border* target : {&into.borders[other], &parts_[other].borders[a]}) {
      target->affinity += border.affinity;
      target->length += border.length;
    }
    parts_[other].borders.erase(b);
  }
  into.size += from.size;
  into.first = std::min(into.first, from.first);
  ++into.joins;
  ++from.joins;
  from.borders.clear();
  parent_[b] = a;
  --count_;
  --group_count_[into.group];
  return a;
}

void PartGraph::join_small(std::int64_t min_size, std::int32_t at_least) {
  using Entry = std::tuple<std::int64_t, std::int32_t, std::int32_t, std::int32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  const auto push = [&](std::int32_t part) {
    const Part& of = parts_[part];
    if (parent_[part] == part && of.size < min_size)
      queue.emplace(of.size, of.first, part, of.joins);
  };
  for (std::int32_t part = 1; part < static_cast<std::int32_t>(parts_.size()); ++part) push(part);
  while (!queue.empty()) {
    const auto [size, first, part, joins] = queue.top();
    queue.pop();
    if (parts_[part].joins != joins || group_count_[parts_[part].group] <= at_least) continue;
    const std::int32_t neighbour = strongest_neighbour(part);
    if (neighbour != 0) push(join(part, neighbour));
  }
}

void PartGraph::join_alike(std::int32_t target) {
  struct Pair {
    double price;
    std::int32_t first_a, first_b;  // For a total order.
    std::int32_t a, b;
    std::int32_t joins_a, joins_b;
    bool operator<(const Pair& other) const {
      return std::tuple(price, -first_a, -first_b) <
             std::tuple(other.price, -other.first_a, -other.first_b);
    }
  };
  if (count_ <= target) return;
  std::priority_queue<Pair> queue;
  const auto push = [&](std::int32_t a, std::int32_t b, const Border& border) {
    if (parts_[a].first > parts_[b].first) std::swap(a, b);
    const auto share = [&](std::int32_t part) {
      return 1.0 / static_cast<double>(std::max<std::int64_t>(parts_[part].size, 1));
    };
    const double price = border.affinity * (share(a) + share(b));
    queue.push({price, parts_[a].first, parts_[b].first, a, b, parts_[a].joins, parts_[b].joins});
  };
  for (std::int32_t a = 1; a < static_cast<std::int32_t>(parts_.size()); ++a) {
    for (const auto& [b, border] : parts_[a].borders) {
      if (a < b) push(a, b, border);
    }
  }
  while (!queue.empty() && count_ > target) {
    const Pair pair = queue.top();
    queue.pop();
    if (parts_[pair.a].joins != pair.joins_a || parts_[pair.b].joins != pair.joins_b) continue;
    const std::int32_t joined = join(pair.a, pair.b);
    for (const auto& [other, border] : parts_[joined].borders) push(joined, other, border);
  }
}

std::vector<std::int32_t> PartGraph::joined() const {
  std::vector<std::int32_t> result(parts_.size(), 0);
  std::vector<std::int32_t> number(parts_.size(), 0);
  std::int32_t next = 0;
  for (std::int32_t part = 1; part < static_cast<std::int32_t>(parts_.size()); ++part) {
    std::int32_t root = part;
    while (parent_[root] != root) root = parent_[root];
    if (number[root] == 0) number[root] = ++next;
    result[part] = number[root];
  }
  return result;
}

}  // namespace diacut
