#include "core/data_folder.hpp"

#include <cstdlib>

namespace diacut {

std::filesystem::path data_folder() {
  // An empty or relative XDG_DATA_HOME counts as none (XDG Base Directory Specification).
  const char* const data = std::getenv("XDG_DATA_HOME");
  if (data != nullptr && std::filesystem::path(data).is_absolute()) {
    return std::filesystem::path(data) / "diacut";
  }
  const char* const home = std::getenv("HOME");
  if (home == nullptr || *home == '\0') return {};
  return std::filesystem::path(home) / ".local" / "share" / "diacut";
}

}  // namespace diacut
