#include "text.hpp"

#include <fmt/format.h>

namespace diacut::app {

std::string input_name(const std::string& path) { return path == "-" ? "standard input" : path; }

std::string quoted_input_name(const std::string& path) {
  return path == "-" ? input_name(path) : fmt::format("'{}'", path);
}

std::string counted(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace diacut::app
