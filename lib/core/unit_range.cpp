#include "core/unit_range.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/parallel.hpp"

namespace diacut {

namespace {

/// Fewer values are not worth another thread.
constexpr std::size_t kLeastValues = std::size_t{1} << 18;
/// Values that are looked at before the search may end. A loop without an end takes vector
/// instructions.
constexpr std::size_t kBlock = 4096;

bool is_outside(float value) { return !(value >= 0.0f && value <= 1.0f); }

bool any_outside(std::span<const float> values) {
  // Without &&, which is a branch.
  int inside = 1;
  for (const float value : values) inside &= int{value >= 0.0f} & int{value <= 1.0f};
  return inside == 0;
}

std::optional<float> first_outside(std::span<const float> values) {
  for (std::size_t at = 0; at < values.size(); at += kBlock) {
    const auto block = values.subspan(at, std::min(kBlock, values.size() - at));
    if (any_outside(block)) return *std::find_if(block.begin(), block.end(), is_outside);
  }
  return std::nullopt;
}

}  // namespace

std::optional<float> value_outside_unit_range(std::span<const float> values) {
  const std::vector<IndexRange> ranges = ranges_of(values.size(), kLeastValues);
  std::vector<std::optional<float>> found(ranges.size());
  parallel_for(static_cast<int>(ranges.size()), [&](int k) {
    const auto index = static_cast<std::size_t>(k);
    const IndexRange& range = ranges[index];
    found[index] = first_outside(values.subspan(range.begin, range.end - range.begin));
  });
  const auto first =
      std::find_if(found.begin(), found.end(), [](const auto& each) { return each.has_value(); });
  return first == found.end() ? std::nullopt : *first;
}

}  // namespace diacut
