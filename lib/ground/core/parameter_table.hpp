#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "diacut/parameters.hpp"

namespace diacut {

using ParameterValue = std::variant<bool, std::int64_t, double, std::string>;

/// Where a parameter is held and which values it may have: reading, writing, checking and listing
/// use it. configs/default.toml says what it means, and in which unit it is.
struct ParameterEntry {
  std::string_view table;  ///< "eigen".
  std::string_view name;   ///< "vectors".
  /// The values that it may have, for messages: "an integer from 1 to 10". Bounds are inclusive;
  /// infinity and NaN are in no range.
  std::string allowed;
  std::vector<std::string_view> names;  ///< If it has one of a fixed choice, these.
  /// Whether it may have a value. An integer counts as a real number too.
  std::function<bool(const ParameterValue&)> accepts;
  std::function<ParameterValue(const Parameters&)> get;
  /// Precondition: the value is accepted.
  std::function<void(Parameters&, const ParameterValue&)> set;

  std::string key() const;  ///< "eigen.vectors".
};

/// Every parameter, in the order of configs/default.toml: table by table.
const std::vector<ParameterEntry>& parameter_table();

/// Empty if the parameter may have the value, else what is wrong ("is 0, expected ...").
std::string parameter_problem(const ParameterEntry& entry, const ParameterValue& value);

/// A value as TOML writes it.
std::string parameter_text(const ParameterValue& value);

}  // namespace diacut
