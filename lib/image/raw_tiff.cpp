#include <algorithm>
#include <cstdint>
#include <vector>

#include "image/format.hpp"
#include "image/tiff_directory.hpp"

namespace diacut {

bool is_raw_tiff(Bytes file) {
  using std::string_view_literals::operator""sv;
  enum Tag : std::uint32_t { kPhotometric = 262, kSubDirectories = 330, kDngVersion = 50706 };
  enum Photometric : std::uint32_t { kColourFilterArray = 32803, kLinearRaw = 34892 };
  // Files of cameras have a few directories; a chain may lead back to itself.
  constexpr std::size_t kMost = 64;
  constexpr std::uint64_t kMostWithin = 16;
  if (!has_text(file, 0, "II*\0"sv) && !has_text(file, 0, "MM\0*"sv)) return false;
  const TiffDirectories tiff(file);
  std::vector<std::uint64_t> waiting = {tiff.first()};
  for (std::size_t next = 0; next < std::min(waiting.size(), kMost); ++next) {
    const std::uint64_t directory = waiting[next];
    if (directory == 0) continue;
    for (const TiffDirectories::Entry& entry : tiff.entries(directory)) {
      if (entry.tag == kDngVersion) return true;
      if (entry.tag == kPhotometric &&
          (entry.value == kColourFilterArray || entry.value == kLinearRaw)) {
        return true;
      }
      if (entry.tag != kSubDirectories) continue;
      const std::uint64_t list = entry.count == 1 ? entry.at : tiff.offset(entry.at);
      for (std::uint64_t k = 0; k < std::min(entry.count, kMostWithin); ++k) {
        waiting.push_back(tiff.offset(list + 4 * k));
      }
    }
    waiting.push_back(tiff.next(directory));
  }
  return false;
}

}  // namespace diacut
