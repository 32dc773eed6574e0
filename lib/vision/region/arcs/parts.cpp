#include "region/arcs/parts.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <tuple>
#include <utility>

namespace diacut {

PartGraph::PartGraph(const Labels& parts, std::span<const float> right, std::span<const float> down,
                     const std::vector<std::int32_t>& group,
                     const std::vector<std::uint8_t>& counted)
    : parts_(static_cast<std::size_t>(parts.count) + 1),
      joined_(parts_.size()),
      count_(static_cast<std::int32_t>(parts.count)),
      pairs_({}, 0) {
  std::map<std::pair<std::int32_t, std::int32_t>, Neighbours> borders;
  const auto add_border = [&](std::int32_t a, std::int32_t b, float affinity) {
    if (a == b || a == 0 || b == 0) return;
    const auto [first, second] = std::minmax(a, b);
    borders[{first, second}].add({first, second, affinity, 1});
  };
  const auto alike = [&](std::size_t i, std::size_t j) {
    return group.empty() || group[i] == group[j];
  };
  const auto width = static_cast<std::size_t>(parts.width);
  const std::vector<std::int32_t>& of = parts.values;
  for (std::size_t i = 0; i < of.size(); ++i) {
    if (of[i] == 0) continue;
    parts_[of[i]].size += counted.empty() ? 1 : counted[i];
    if (!group.empty()) parts_[of[i]].group = group[i];
    if ((i + 1) % width != 0 && alike(i, i + 1)) add_border(of[i], of[i + 1], right[i]);
    if (i + width < of.size() && alike(i, i + width)) add_border(of[i], of[i + width], down[i]);
  }
  std::vector<Neighbours> pairs;
  for (auto& [of_two, border] : borders) {
    std::tie(border.first, border.second) = of_two;
    pairs.push_back(border);
  }
  pairs_ = Pairs(std::move(pairs), parts_.size());
  group_count_.assign(group.empty() ? 1 : *std::max_element(group.begin(), group.end()) + 1, 0);
  for (std::int32_t part = 1; part <= count_; ++part) ++group_count_[parts_[part].group];
}

PartGraph::Pairs::Index PartGraph::strongest(std::int32_t part) {
  const auto rank = [&](Pairs::Index k) {
    return std::tuple(-pairs_[k].affinity, -pairs_[k].length, joined_.find(pairs_.other(k, part)));
  };
  const std::vector<Pairs::Index>& all = pairs_.pairs_of(part);
  const auto best = std::min_element(
      all.begin(), all.end(), [&](Pairs::Index a, Pairs::Index b) { return rank(a) < rank(b); });
  return best == all.end() ? pairs_.size() : *best;
}

std::int32_t PartGraph::join(Pairs::Index pair) {
  std::int32_t kept = pairs_[pair].first;
  std::int32_t lost = pairs_[pair].second;
  if (pairs_.most_pairs(kept) < pairs_.most_pairs(lost)) std::swap(kept, lost);
  pairs_.join(pair, kept, lost, [](Pairs::Index, bool) {});
  Part& into = parts_[kept];
  into.size += parts_[lost].size;
  ++into.joins;
  ++parts_[lost].joins;
  joined_.unite(kept, lost);
  --count_;
  --group_count_[into.group];
  return kept;
}

void PartGraph::join_small(std::int64_t min_size, std::int32_t at_least) {
  using Entry = std::tuple<std::int64_t, std::int32_t, std::int32_t, std::int32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  const auto push = [&](std::int32_t part) {
    const Part& of = parts_[part];
    if (of.size < min_size) queue.emplace(of.size, joined_.find(part), part, of.joins);
  };
  for (std::int32_t part = 1; part < static_cast<std::int32_t>(parts_.size()); ++part) push(part);
  while (!queue.empty()) {
    const auto [size, first, part, joins] = queue.top();
    queue.pop();
    if (parts_[part].joins != joins || group_count_[parts_[part].group] <= at_least) continue;
    const Pairs::Index pair = strongest(part);
    if (pair != pairs_.size()) push(join(pair));
  }
}

void PartGraph::join_alike(std::int32_t target) {
  if (count_ <= target) return;
  // The highest price first, then the first parts in scan order.
  using Price = std::tuple<double, std::int32_t, std::int32_t>;
  const auto price = [&](Pairs::Index k) -> Price {
    const auto share = [&](std::int32_t part) {
      return 1.0 / static_cast<double>(std::max<std::int64_t>(parts_[part].size, 1));
    };
    std::int32_t a = pairs_[k].first;
    std::int32_t b = pairs_[k].second;
    if (joined_.find(a) > joined_.find(b)) std::swap(a, b);
    return {-pairs_[k].affinity * (share(a) + share(b)), joined_.find(a), joined_.find(b)};
  };
  PairQueue<Neighbours, Price> queue(pairs_, price);
  while (count_ > target) {
    const auto dearest = queue.take();
    if (!dearest) return;
    for (const Pairs::Index k : pairs_.pairs_of(join(dearest->pair))) queue.push(k, price(k));
  }
}

}  // namespace diacut
