#include "text.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>

namespace diacut::app {

std::string input_name(const std::string& path) { return path == "-" ? "standard input" : path; }

std::string quoted_input_name(const std::string& path) {
  return path == "-" ? input_name(path) : fmt::format("'{}'", path);
}

bool has_extension(const std::filesystem::path& path, const std::vector<std::string>& known) {
  const std::string extension = CLI::detail::to_lower(path.extension().string());
  return std::find(known.begin(), known.end(), extension) != known.end();
}

std::optional<std::string> environment_variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::string counted(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace diacut::app
