#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/bytes.hpp"

namespace diacut {

/// Tags of GeoTIFF 1.1 and of a sensor's rational polynomials, which are about rows as they are
/// stored.
inline constexpr std::array<std::uint16_t, 5> kMapTags = {33550, 33922, 34264, 34735, 50844};
/// GDAL's value for no data, a text.
inline constexpr std::uint16_t kNoDataTag = 42113;

/// The directories of a TIFF file (classic or BigTIFF), as far as they say what the file is. What
/// lies beyond the file's end is 0, and an entry that does not lie in the file whole is none.
class TiffDirectories {
 public:
  struct Entry {
    std::uint32_t tag = 0;
    std::uint64_t count = 0;  ///< Of values.
    std::uint64_t at = 0;     ///< Where the value stands, or of several where they are.
    std::uint32_t value = 0;  ///< The first number there, of 32 bits or else of 16.
  };

  /// Precondition: `file` begins as a TIFF file does.
  explicit TiffDirectories(Bytes file)
      : file_(file),
        order_(file[0] == 'I' ? ByteOrder::kLittle : ByteOrder::kBig),
        big_(number(2, 2) == 43) {}

  std::uint64_t first() const { return offset(big_ ? 8 : 4); }
  std::uint64_t next(std::uint64_t directory) const {
    return offset(directory + head() + count(directory) * size());
  }
  std::vector<Entry> entries(std::uint64_t directory) const {
    constexpr std::uint64_t kMost = 4096;  // A forged count costs no more.
    std::vector<Entry> found;
    for (std::uint64_t k = 0; k < std::min(count(directory), kMost); ++k) {
      const std::uint64_t at = directory + head() + k * size();
      if (at > file_.size() || size() > file_.size() - at) break;
      const std::uint64_t value = at + (big_ ? 12 : 8);
      const std::size_t bytes = number(at + 2, 2) == 4 ? 4 : 2;
      found.push_back({static_cast<std::uint32_t>(number(at, 2)), number(at + 4, big_ ? 8 : 4),
                       value, static_cast<std::uint32_t>(number(value, bytes))});
    }
    return found;
  }

  /// The text of an entry.
  std::string text(const Entry& entry) const {
    const std::uint64_t at = entry.count > (big_ ? 8U : 4U) ? offset(entry.at) : entry.at;
    const std::uint64_t end =
        at > file_.size() ? at : at + std::min(entry.count, file_.size() - at);
    std::string found;
    for (std::uint64_t k = at; k < end; ++k) found += static_cast<char>(number(k, 1));
    return found;
  }

  /// A place in the file that stands at `at`.
  std::uint64_t offset(std::uint64_t at) const { return number(at, big_ ? 8 : 4); }

 private:
  std::uint64_t head() const { return big_ ? 8 : 2; }
  std::uint64_t size() const { return big_ ? 20 : 12; }
  std::uint64_t count(std::uint64_t directory) const { return number(directory, head()); }

  std::uint64_t number(std::uint64_t at, std::size_t size) const {
    if (at > file_.size() || size > file_.size() - at) return 0;
    const auto place = static_cast<std::size_t>(at);
    if (size < 8) return read_uint(file_, place, size, order_);
    const std::uint64_t first = read_uint(file_, place, 4, order_);
    const std::uint64_t second = read_uint(file_, place + 4, 4, order_);
    return order_ == ByteOrder::kBig ? first << 32 | second : second << 32 | first;
  }

  Bytes file_;
  ByteOrder order_;
  bool big_;
};

}  // namespace diacut
