#include "core/unit_range.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>

#include "core/parallel.hpp"

namespace diacut {

namespace {

/// Fewer values are not worth another thread.
constexpr std::size_t kLeastValues = std::size_t{1} << 18;

}  // namespace

std::optional<float> value_outside_unit_range(std::span<const float> values) {
  std::atomic<bool> any_outside = false;
  parallel_ranges(values.size(), kLeastValues, [&](std::size_t begin, std::size_t end) {
    // Without &&, which is a branch: so the loop takes vector instructions.
    int inside = 1;
    for (const float value : values.subspan(begin, end - begin)) {
      inside &= int{value >= 0.0f} & int{value <= 1.0f};
    }
    if (inside == 0) any_outside = true;
  });
  if (!any_outside) return std::nullopt;
  return *std::find_if(values.begin(), values.end(),
                       [](float value) { return !(value >= 0.0f && value <= 1.0f); });
}

}  // namespace diacut
