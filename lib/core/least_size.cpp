#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "diacut/parameters.hpp"

namespace diacut {

namespace {

constexpr std::string_view kAutomatic = "auto";

/// The whole of `text` as a number; nothing if it is none.
template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, number);
  if (code != std::errc() || stop != end) return std::nullopt;
  return number;
}

}  // namespace

std::optional<LeastSize> parse_least_size(const std::string& text) {
  if (text == kAutomatic) return LeastSize{};
  if (text.ends_with('%')) {
    const auto percent = number_of<double>(std::string_view(text).substr(0, text.size() - 1));
    if (!percent || !(*percent >= 0 && *percent <= 100)) return std::nullopt;
    return LeastSize{LeastSize::Unit::kShare, *percent / 100};
  }
  const auto pixels = number_of<std::int32_t>(text);
  if (!pixels || *pixels < 0) return std::nullopt;
  return LeastSize{LeastSize::Unit::kPixels, static_cast<double>(*pixels)};
}

std::string to_string(const LeastSize& size) {
  switch (size.unit) {
    case LeastSize::Unit::kPixels:
      return fmt::format("{:.0f}", size.value);
    case LeastSize::Unit::kShare:
      // Twelve digits do not show that a hundredth is no binary fraction.
      return fmt::format("{:.12g}%", size.value * 100);
    case LeastSize::Unit::kAutomatic:
      break;
  }
  return std::string(kAutomatic);
}

}  // namespace diacut
