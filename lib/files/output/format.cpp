#include "output/format.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>

#include "core/extension.hpp"

namespace diacut {

std::string display_name(const std::string& path) { return path == "-" ? "standard output" : path; }

void check_one_size(const char* what, int width, int height, const char* other, int other_width,
                    int other_height) {
  if (width == other_width && height == other_height) return;
  throw InputError(
      fmt::format("the {} has {} x {} pixels, its {} {} x {}; they must be of one size", what,
                  width, height, other, other_width, other_height));
}

void check_extension(const std::string& path, const char* what, const char* known) {
  if (has_extension(path, known)) return;
  const std::string extension = std::filesystem::path(path).extension().string();
  const std::string found =
      extension.empty() ? "the name has no extension" : fmt::format("{} is not known", extension);
  const char* choice = std::string_view(known).find(' ') == std::string_view::npos ? "" : "one of ";
  throw ConfigError(
      fmt::format("{}: {}; {} are written as {}{}", path, found, what, choice, known));
}

}  // namespace diacut
