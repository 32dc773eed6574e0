#include "photos.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "diacut/errors.hpp"
#include "diacut/image_file.hpp"

namespace diacut::bench {

namespace fs = std::filesystem;

std::vector<fs::path> photos_in(const std::string& folder) {
  std::vector<fs::path> photos;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string extension = entry.path().extension().string();
    const auto& known = image_extensions();
    if (std::find(known.begin(), known.end(), extension) != known.end()) {
      photos.push_back(entry.path());
    }
  }
  std::sort(photos.begin(), photos.end());
  if (photos.empty()) throw InputError(fmt::format("no photographs in '{}'", folder));
  return photos;
}

}  // namespace diacut::bench
