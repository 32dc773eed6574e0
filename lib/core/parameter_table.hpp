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
/// Any text of one line.
struct TextDomain {
  std::string_view what;  ///< What the text names, for messages.
};
/// Numbers separated by commas, as text.
struct NumbersDomain {
  double least = 0;
  double most = 0;
  std::size_t count = 1;  ///< The most numbers.
};
/// An integer, or a text of a form of its own.
struct FormDomain {
  std::string_view what;  ///< The forms, for messages.
  bool (*accepts)(const ParameterValue& value) = nullptr;
};
using ParameterDomain = std::variant<FlagDomain, IntegerDomain, RealDomain, NameDomain, TextDomain,
                                     NumbersDomain, FormDomain>;

/// The one description of a parameter: reading, writing, checking, listing and help use it.
struct ParameterEntry {
  std::string_view table;    ///< "eigen".
  std::string_view name;     ///< "vectors".
  std::string_view unit;     ///< "pixels"; empty for names, flags and pure numbers.
  std::string_view meaning;  ///< One sentence or more, with the source.
  ParameterDomain domain;
  std::function<ParameterValue(const Parameters&)> get;
  /// Precondition: parameter_problem() is empty for the value.
  std::function<void(Parameters&, const ParameterValue&)> set;

  std::string key() const;  ///< "eigen.vectors".
};

/// A table of the configuration file.
struct ParameterSection {
  std::string_view table;
  std::string_view meaning;
};

/// Every parameter, in the order of the configuration file: section by section.
const std::vector<ParameterEntry>& parameter_table();
const std::vector<ParameterSection>& parameter_sections();

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

/// The numbers of a text like "0.5, 1"; nothing if it is no such text. numbers_text() writes
/// numbers as "0.5,1".
std::optional<std::vector<double>> numbers_of(std::string_view text);
std::string numbers_text(const std::vector<double>& numbers);

}  // namespace diacut
