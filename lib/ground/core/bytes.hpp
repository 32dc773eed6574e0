#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace diacut {

/// The bytes of a file or of a part of a file, in memory that somebody else owns.
using Bytes = std::span<const std::uint8_t>;

enum class ByteOrder { kLittle, kBig };

/// The unsigned integer of `size` (1 to 4) bytes at `at`. Precondition: it lies within `bytes`.
inline std::uint32_t read_uint(Bytes bytes, std::size_t at, std::size_t size, ByteOrder order) {
  std::uint32_t value = 0;
  for (std::size_t k = 0; k < size; ++k) {
    value = value << 8 | bytes[at + (order == ByteOrder::kBig ? k : size - 1 - k)];
  }
  return value;
}

/// The size of the box that begins with these bytes, its head included, in files of JPEG 2000 and
/// of HEIF (ISO/IEC 15444-1 and 14496-12). 0: it reaches to the end of the file. 1: its size would
/// lie beyond these bytes. Precondition: 8 bytes or more.
inline std::uint64_t box_size(Bytes box) {
  const std::uint64_t size = read_uint(box, 0, 4, ByteOrder::kBig);
  if (size != 1 || box.size() < 16) return size;
  return std::uint64_t{read_uint(box, 8, 4, ByteOrder::kBig)} << 32 |
         read_uint(box, 12, 4, ByteOrder::kBig);
}

/// Whether `text` stands at `at`; false where `bytes` ends before.
inline bool has_text(Bytes bytes, std::size_t at, std::string_view text) {
  return at <= bytes.size() && text.size() <= bytes.size() - at &&
         std::memcmp(bytes.data() + at, text.data(), text.size()) == 0;
}

}  // namespace diacut
