#pragma once

#include <optional>
#include <span>

namespace diacut {

/// The first value outside of [0, 1], or NaN; nothing if there is none. All cores search.
std::optional<float> value_outside_unit_range(std::span<const float> values);

}  // namespace diacut
