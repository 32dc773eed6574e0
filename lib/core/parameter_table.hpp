#pragma once

#include <charconv>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "diacut/parameters.hpp"

namespace diacut {

using ParameterValue = std::variant<bool, std::int64_t, double, std::string>;

/// The values that a parameter may have. Bounds are inclusive; infinity and NaN are in no range.
struct FlagDomain {};
struct IntegerDomain {
  std::int64_t least = 0;
  std::int64_t most = 0;
};
struct RealDomain {
  double least = 0;
  double most = 0;
};
struct NameDomain {
  std::vector<std::string_view> names;
};
/// An integer or a text, of a form of its own.
struct FormDomain {
  std::string_view what;  ///< The forms, for messages.
  std::function<bool(const ParameterValue& value)> accepts;
};
using ParameterDomain = std::variant<FlagDomain, IntegerDomain, RealDomain, NameDomain, FormDomain>;

/// Where a parameter is held and which values it may have: reading, writing, checking and listing
/// use it. configs/default.toml says what it means, and in which unit it is.
struct ParameterEntry {
  std::string_view table;  ///< "eigen".
  std::string_view name;   ///< "vectors".
  ParameterDomain domain;
  std::function<ParameterValue(const Parameters&)> get;
  /// Precondition: parameter_problem() is empty for the value.
  std::function<void(Parameters&, const ParameterValue&)> set;

  std::string key() const;  ///< "eigen.vectors".
};

/// Every parameter, in the order of configs/default.toml: table by table.
const std::vector<ParameterEntry>& parameter_table();

/// "an integer from 1 to 10", "one of auto, type, data".
std::string allowed_text(const ParameterEntry& entry);

/// Empty if the parameter may have the value, else what is wrong ("is 0, expected ..."). An integer
/// counts as a real number too.
std::string parameter_problem(const ParameterEntry& entry, const ParameterValue& value);

/// A value as TOML writes it.
std::string parameter_text(const ParameterValue& value);

/// The whole of `text` as a number; nothing if it is none.
template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, number);
  if (code != std::errc() || stop != end) return std::nullopt;
  return number;
}

}  // namespace diacut
