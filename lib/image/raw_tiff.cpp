#include <algorithm>
#include <cstdint>
#include <vector>

#include "image/format.hpp"

namespace diacut {
namespace {

/// The directories of a classic TIFF file, as far as is needed to find a sensor's picture.
class Directories {
 public:
  explicit Directories(Bytes file)
      : file_(file),
        order_(has_text(file, 0, "II") ? ByteOrder::kLittle : ByteOrder::kBig),
        waiting_{number(4, 4)} {}

  bool has_sensor_picture() {
    // Files of cameras have a few directories; a chain may lead back to itself.
    constexpr std::size_t kMost = 64;
    for (std::size_t next = 0; next < std::min(waiting_.size(), kMost); ++next) {
      if (is_of_sensor(waiting_[next])) return true;
    }
    return false;
  }

 private:
  /// 0 beyond the file's end.
  std::uint32_t number(std::uint64_t at, std::size_t size) const {
    if (at + size > file_.size()) return 0;
    return read_uint(file_, static_cast<std::size_t>(at), size, order_);
  }

  bool is_of_sensor(std::uint32_t directory) {
    enum Tag : std::uint32_t { kPhotometric = 262, kSubDirectories = 330, kDngVersion = 50706 };
    enum Photometric : std::uint32_t { kColourFilterArray = 32803, kLinearRaw = 34892 };
    constexpr std::uint64_t kEntry = 12;
    if (directory == 0) return false;
    const std::uint32_t count = number(directory, 2);
    for (std::uint32_t k = 0; k < count; ++k) {
      const std::uint64_t entry = std::uint64_t{directory} + 2 + k * kEntry;
      const std::uint32_t tag = number(entry, 2);
      const std::uint32_t value = number(entry + 8, 2);
      if (tag == kDngVersion) return true;
      if (tag == kPhotometric && (value == kColourFilterArray || value == kLinearRaw)) return true;
      if (tag == kSubDirectories) add_all(number(entry + 4, 4), entry + 8);
    }
    waiting_.push_back(number(std::uint64_t{directory} + 2 + count * kEntry, 4));
    return false;
  }

  /// Adds `count` directories. Their places stand at `field`; several stand where it leads.
  void add_all(std::uint32_t count, std::uint64_t field) {
    constexpr std::uint32_t kMost = 16;
    const std::uint64_t list = count == 1 ? field : number(field, 4);
    for (std::uint32_t k = 0; k < std::min(count, kMost); ++k) {
      waiting_.push_back(number(list + 4 * std::uint64_t{k}, 4));
    }
  }

  Bytes file_;
  ByteOrder order_;
  std::vector<std::uint32_t> waiting_;
};

}  // namespace

bool is_raw_tiff(Bytes file) {
  using std::string_view_literals::operator""sv;
  if (!has_text(file, 0, "II*\0"sv) && !has_text(file, 0, "MM\0*"sv)) return false;
  return Directories(file).has_sensor_picture();
}

}  // namespace diacut
