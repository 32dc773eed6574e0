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

/// Whether `text` stands at `at`; false where `bytes` ends before.
inline bool has_text(Bytes bytes, std::size_t at, std::string_view text) {
  return at <= bytes.size() && text.size() <= bytes.size() - at &&
         std::memcmp(bytes.data() + at, text.data(), text.size()) == 0;
}

}  // namespace diacut
