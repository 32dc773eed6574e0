#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "diacut/parameters.hpp"
#include "parameters/methods.hpp"

namespace diacut {

using ParameterValue = std::variant<bool, std::int64_t, double, std::string>;

/// The option of segment that sets a parameter.
struct ParameterOption {
  std::string flag;           ///< "--vectors"; empty: the parameter has none.
  std::string value;          ///< What help calls its value: "N".
  std::string meaning;        ///< In a few words.
  Methods methods = kForAll;  ///< That it is for.
};

/// What a person should know of a parameter.
struct ParameterText {
  std::string meaning;          ///< In sentences, with the source.
  std::string unit = {};        ///< "pixels"; empty for flags, names and pure numbers.
  ParameterOption option = {};  ///< What sets it.
};

/// All that is known of a parameter: reading, writing, checking, listing, help, completions and
/// configs/default.toml are made from it.
struct ParameterEntry {
  std::string_view table;    ///< "eigen".
  std::string_view section;  ///< What the parameters of the table are for.
  std::string_view name;     ///< "vectors".
  ParameterText text;        ///< What it means, and what sets it.
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

/// Every parameter, table by table.
const std::vector<ParameterEntry>& parameter_table();

/// Empty if the parameter may have the value, else what is wrong ("is 0, expected ...").
std::string parameter_problem(const ParameterEntry& entry, const ParameterValue& value);

/// A value as TOML writes it.
std::string parameter_text(const ParameterValue& value);

/// A value as a person types it: as parameter_text(), but texts without quotes.
std::string plain_text(const ParameterValue& value);

}  // namespace diacut
