#include "paths.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <system_error>

namespace diacut::app {

namespace fs = std::filesystem;

std::optional<Identity> identity(const fs::path& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) return std::nullopt;
  return Identity(status.st_dev, status.st_ino);
}

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

bool exists(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

bool has_image_extension(const fs::path& path) {
  static constexpr std::array kExtensions = {".jpg", ".jpeg", ".jpe",  ".png", ".bmp",
                                             ".dib", ".webp", ".tiff", ".tif"};
  std::string extension = path.extension().string();
  for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return std::find(kExtensions.begin(), kExtensions.end(), extension) != kExtensions.end();
}

fs::path with_suffix(fs::path name, const char* suffix) {
  name += suffix;
  return name;
}

fs::path whole_path(const fs::path& path) {
  std::error_code failed;
  const fs::path whole = fs::canonical(path, failed);
  return failed ? path : whole;
}

}  // namespace diacut::app
