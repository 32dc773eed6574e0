#include "image/decoded.hpp"

namespace diacut {

int exif_orientation(Bytes block) {
  using std::string_view_literals::operator""sv;
  constexpr std::uint32_t kOrientationTag = 0x0112;
  constexpr std::size_t kEntryBytes = 12;
  if (has_text(block, 0, "Exif\0\0"sv)) block = block.subspan(6);
  // The block is a small TIFF file: byte order, 42, the position of a directory of 12-byte entries.
  const bool little = has_text(block, 0, "II*\0"sv);
  if ((!little && !has_text(block, 0, "MM\0*"sv)) || block.size() < 8) return 1;
  const ByteOrder order = little ? ByteOrder::kLittle : ByteOrder::kBig;
  const std::size_t directory = read_uint(block, 4, 4, order);
  if (block.size() < 2 || directory > block.size() - 2) return 1;
  const std::size_t entries = read_uint(block, directory, 2, order);
  for (std::size_t k = 0; k < entries; ++k) {
    const std::size_t entry = directory + 2 + k * kEntryBytes;
    if (entry + kEntryBytes > block.size()) return 1;
    if (read_uint(block, entry, 2, order) != kOrientationTag) continue;
    const bool is_long = read_uint(block, entry + 2, 2, order) ==
                         4;  // Else the entry is a SHORT, as the standard has it.
    const std::uint32_t value = read_uint(block, entry + 8, is_long ? 4 : 2, order);
    return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

}  // namespace diacut
