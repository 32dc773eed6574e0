#include "mended.hpp"

#include <zlib.h>

#include "core/bytes.hpp"

namespace diacut::testing {
namespace {

std::uint32_t checksum(const FileBytes& file, std::size_t at, std::size_t size) {
  return static_cast<std::uint32_t>(crc32_z(0, file.data() + at, size));
}

void put(FileBytes& file, std::size_t at, std::uint32_t value, ByteOrder order) {
  for (std::size_t k = 0; k < 4; ++k) {
    const std::size_t shift = 8 * (order == ByteOrder::kBig ? 3 - k : k);
    file[at + k] = static_cast<std::uint8_t>(value >> shift);
  }
}

}  // namespace

FileBytes mended_png(FileBytes file) {
  constexpr std::size_t kSignature = 8;
  constexpr std::size_t kAround = 12;  // Length, type and checksum of a chunk.
  for (std::size_t at = kSignature; at + kAround <= file.size();) {
    const std::size_t length = read_uint(file, at, 4, ByteOrder::kBig);
    if (length > file.size() - at - kAround) break;
    put(file, at + 8 + length, checksum(file, at + 4, length + 4), ByteOrder::kBig);
    at += kAround + length;
  }
  return file;
}

FileBytes mended_tree(FileBytes file) {
  if (file.size() < 4) return file;
  const std::size_t summed = file.size() - 4;
  put(file, summed, checksum(file, 0, summed), ByteOrder::kLittle);
  return file;
}

FileBytes mended_zip(FileBytes file) {
  constexpr std::size_t kEntry = 46;
  constexpr std::size_t kLocal = 30;
  for (std::size_t at = 0; at + kEntry <= file.size(); ++at) {
    if (!has_text(file, at, "PK\x01\x02")) continue;
    const std::uint32_t method = read_uint(file, at + 10, 2, ByteOrder::kLittle);
    const std::size_t packed = read_uint(file, at + 20, 4, ByteOrder::kLittle);
    const std::size_t local = read_uint(file, at + 42, 4, ByteOrder::kLittle);
    if (method != 0 || local + kLocal > file.size()) continue;
    const std::size_t begin = local + kLocal + read_uint(file, local + 26, 2, ByteOrder::kLittle) +
                              read_uint(file, local + 28, 2, ByteOrder::kLittle);
    if (begin > file.size() || packed > file.size() - begin) continue;
    const std::uint32_t sum = checksum(file, begin, packed);
    put(file, at + 16, sum, ByteOrder::kLittle);
    put(file, local + 14, sum, ByteOrder::kLittle);
  }
  return file;
}

}  // namespace diacut::testing
