#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/parameter_table.hpp"
#include "core/table_section.hpp"

/// The forms of the parameter affinity.strides.
namespace diacut {

/// The most strides of a stencil, and the largest.
inline constexpr std::size_t kMostStrides = 4;
inline constexpr int kLargestStride = 16;

/// The strides that a person gave; nothing if they are none.
inline std::optional<std::vector<int>> strides_in(const ParameterValue& value) {
  const auto* integer = std::get_if<std::int64_t>(&value);
  const auto* text = std::get_if<std::string>(&value);
  const auto numbers = numbers_of(integer != nullptr ? std::to_string(*integer)
                                  : text != nullptr  ? *text
                                                     : std::string());
  if (!numbers || numbers->size() > kMostStrides || numbers->front() != 1) return std::nullopt;
  std::vector<int> strides;
  for (const double number : *numbers) {
    const bool fits = number <= kLargestStride && (strides.empty() || number > strides.back());
    if (!fits || number != static_cast<int>(number)) return std::nullopt;
    strides.push_back(static_cast<int>(number));
  }
  return strides;
}
inline bool accepts_strides(const ParameterValue& value) { return strides_in(value).has_value(); }
inline ParameterValue strides_value(const std::vector<int>& strides) {
  return fmt::format("{}", fmt::join(strides, ","));
}
inline std::vector<int> strides_of(const ParameterValue& value) {
  return strides_in(value).value();
}

}  // namespace diacut
