#include "region/meetings.hpp"

#include <numeric>
#include <utility>

namespace diacut {

Meetings::Meetings(std::int32_t leaves, const std::vector<Merge>& merges)
    : parent_(static_cast<std::size_t>(leaves) + 1), link_(parent_.size(), kNever) {
  std::iota(parent_.begin(), parent_.end(), 0);
  // By node: a leaf that stands for it, and its number of leaves.
  std::vector<std::pair<std::int32_t, std::int32_t>> nodes;
  for (const std::int32_t leaf : parent_) nodes.emplace_back(leaf, 1);
  for (std::size_t k = 0; k < merges.size(); ++k) {
    auto [kept, size] = nodes[merges[k].first];
    auto [lost, lost_size] = nodes[merges[k].second];
    if (size < lost_size) std::swap(kept, lost);
    parent_[lost] = kept;
    link_[lost] = k;
    nodes.emplace_back(kept, size + lost_size);
  }
}

std::size_t Meetings::merge_of(std::int32_t a, std::int32_t b) const {
  std::size_t merge = kNever;
  while (a != b) {
    if (link_[b] < link_[a]) std::swap(a, b);
    merge = link_[a];
    if (merge == kNever) break;
    a = parent_[a];
  }
  return merge;
}

}  // namespace diacut
