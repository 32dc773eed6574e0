#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace diacut::app {

/// What messages call an input: "standard input" for "-", else the path.
std::string input_name(const std::string& path);

/// input_name(), a path in quotes.
std::string quoted_input_name(const std::string& path);

/// A count with its noun: "1 region", "2 regions".
std::string counted(std::int64_t count, std::string_view noun);

/// The number that all of a text is, in digits; nothing if it is none.
std::optional<std::size_t> number_in(std::string_view text);

}  // namespace diacut::app
