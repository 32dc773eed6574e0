#include "text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <system_error>

namespace diacut::app {

std::string input_name(const std::string& path) { return path == "-" ? "standard input" : path; }

std::string quoted_input_name(const std::string& path) {
  return path == "-" ? input_name(path) : fmt::format("'{}'", path);
}

std::string counted(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::optional<std::size_t> number_in(std::string_view text) {
  std::size_t number = 0;
  const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace diacut::app
