#pragma once

#include <fmt/format.h>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "diacut/errors.hpp"

namespace diacut::app {

/// What messages call an input: "standard input" for "-", else the path.
std::string input_name(const std::string& path);

/// input_name(), a path in quotes.
std::string quoted_input_name(const std::string& path);

/// Whether a path has one of these extensions (".png"), in upper or lower case.
bool has_extension(const std::filesystem::path& path, const std::vector<std::string>& known);

/// A variable of this process.
std::optional<std::string> environment_variable(const char* name);

/// A count with its noun: "1 region", "2 regions".
std::string counted(std::int64_t count, std::string_view noun);

/// The number that all of a text is, from `least` to `most`; nothing if it is none.
template <class Number = std::size_t>
std::optional<Number> number_in(std::string_view text,
                                Number least = std::numeric_limits<Number>::lowest(),
                                Number most = std::numeric_limits<Number>::max()) {
  Number number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, number);
  if (code != std::errc() || stop != end || !(number >= least && number <= most)) {
    return std::nullopt;
  }
  return number;
}

/// The number that the text of an option is. `expected`: what the error says that it takes. Throws
/// ConfigError.
template <class Number>
Number number_of(const char* option, const std::string& text, Number least, Number most,
                 std::string_view expected) {
  if (const auto number = number_in<Number>(text, least, most)) return *number;
  throw ConfigError(fmt::format("{} is '{}', expected {}", option, text, expected));
}

}  // namespace diacut::app
