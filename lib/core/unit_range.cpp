#include "core/unit_range.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/parallel.hpp"

namespace diacut {

namespace {

/// Fewer values are not worth another thread.
constexpr std::size_t kLeastValues = std::size_t{1} << 18;

}  // namespace

std::optional<float> value_outside_unit_range(std::span<const float> values) {
  const std::vector<IndexRange> ranges = ranges_of(values.size(), kLeastValues);
  std::vector<std::optional<float>> found(ranges.size());
  parallel_for(static_cast<int>(ranges.size()), [&](int k) {
    const auto index = static_cast<std::size_t>(k);
    const IndexRange& range = ranges[index];
    const auto part = values.subspan(range.begin, range.end - range.begin);
    const auto bad = std::find_if(part.begin(), part.end(),
                                  [](float value) { return !(value >= 0.0f && value <= 1.0f); });
    if (bad != part.end()) found[index] = *bad;
  });
  const auto first =
      std::find_if(found.begin(), found.end(), [](const auto& each) { return each.has_value(); });
  return first == found.end() ? std::nullopt : *first;
}

}  // namespace diacut
