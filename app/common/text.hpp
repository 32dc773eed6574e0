#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace diacut::app {

/// What messages call an input: "standard input" for "-", else the path.
std::string input_name(const std::string& path);

/// input_name(), a path in quotes.
std::string quoted_input_name(const std::string& path);

/// A count with its noun: "1 region", "2 regions".
std::string counted(std::int64_t count, std::string_view noun);

}  // namespace diacut::app
