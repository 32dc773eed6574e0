#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/split_text.hpp"
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

/// The number that the text of an option is. `expected`: what the error says that it takes. Throws
/// ConfigError.
template <class Number>
Number number_of(const char* option, const std::string& text, Number least, Number most,
                 std::string_view expected) {
  if (const auto number = number_in<Number>(text, least, most)) return *number;
  throw ConfigError(fmt::format("{} is '{}', expected {}", option, text, expected));
}

}  // namespace diacut::app
