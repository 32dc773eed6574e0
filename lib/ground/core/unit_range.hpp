#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <optional>
#include <span>

#include "core/parallel.hpp"

namespace diacut {

/// The first of the values that holds(value) is false of; nothing if there is none. All cores
/// search.
template <class T, class Holds>
std::optional<T> first_that_fails(std::span<const T> values, const Holds& holds) {
  constexpr std::size_t kLeastValues = std::size_t{1} << 18;  // Fewer are not worth a thread.
  std::atomic<bool> any_fails = false;
  parallel_ranges(values.size(), kLeastValues, [&](std::size_t begin, std::size_t end) {
    // All values first, without a branch, so that a compiler makes vector instructions of it.
    int all_hold = 1;
    for (const T value : values.subspan(begin, end - begin)) all_hold &= int{holds(value)};
    if (all_hold == 0) any_fails = true;
  });
  if (!any_fails) return std::nullopt;
  return *std::find_if_not(values.begin(), values.end(), holds);
}

/// The first value outside of [0, 1], or NaN; nothing if there is none. All cores search.
inline std::optional<float> value_outside_unit_range(std::span<const float> values) {
  // Not &&, which is a branch.
  return first_that_fails(values,
                          [](float value) -> bool { return (value >= 0.0f) & (value <= 1.0f); });
}

}  // namespace diacut
