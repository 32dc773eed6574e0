#include "output/format.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace diacut {

std::string lower_extension(const std::string& path) {
  std::string extension = std::filesystem::path(path).extension().string();
  for (char& c : extension) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return extension;
}

std::string display_name(const std::string& path) { return path == "-" ? "standard output" : path; }

void check_one_size(const char* what, int width, int height, const char* other, int other_width,
                    int other_height) {
  if (width == other_width && height == other_height) return;
  throw InputError(
      fmt::format("the {} has {} x {} pixels, its {} {} x {}; they must be of one size", what,
                  width, height, other, other_width, other_height));
}

ConfigError unknown_extension(const std::string& path, const std::string& what,
                              const std::string& known) {
  const std::string extension = std::filesystem::path(path).extension().string();
  const std::string found =
      extension.empty() ? "the name has no extension" : fmt::format("{} is not known", extension);
  return ConfigError(fmt::format("{}: {}; {} are written as one of {}", path, found, what, known));
}

}  // namespace diacut
