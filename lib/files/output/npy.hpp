#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace diacut {

/// NumPy's name of an element type: byte order, kind, bytes ("<f4"). Not for bool.
template <typename T>
std::string npy_type() {
  static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>);
  const char order = sizeof(T) == 1 ? '|' : std::endian::native == std::endian::little ? '<' : '>';
  const char kind = std::is_floating_point_v<T> ? 'f' : std::is_signed_v<T> ? 'i' : 'u';
  return fmt::format("{}{}{}", order, kind, sizeof(T));
}

/// The bytes before the elements of a .npy file, version 1.0: magic, version, the header's length,
/// and the header, padded so that the elements start at a multiple of 64 bytes (NumPy, "NEP 1: a
/// simple file format for NumPy arrays"). C order.
inline std::vector<std::uint8_t> npy_header(const std::string& type,
                                            const std::vector<std::size_t>& shape) {
  const std::string tuple =
      fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  std::string text =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", type, tuple);
  constexpr std::size_t kPrefix = 10;
  while ((kPrefix + text.size() + 1) % 64 != 0) text += ' ';
  text += '\n';
  std::vector<std::uint8_t> bytes = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
  bytes.push_back(static_cast<std::uint8_t>(text.size() & 0xff));
  bytes.push_back(static_cast<std::uint8_t>(text.size() >> 8));
  bytes.insert(bytes.end(), text.begin(), text.end());
  return bytes;
}

template <typename T>
std::vector<std::uint8_t> npy_header(const std::vector<std::size_t>& shape) {
  return npy_header(npy_type<T>(), shape);
}

/// An array as the bytes of a .npy file. elements.size() is the product of `shape`.
template <typename T>
std::vector<std::uint8_t> encode_npy(std::span<const T> elements,
                                     const std::vector<std::size_t>& shape) {
  std::vector<std::uint8_t> bytes = npy_header<T>(shape);
  const std::size_t start = bytes.size();
  bytes.resize(start + elements.size_bytes());
  if (!elements.empty()) std::memcpy(bytes.data() + start, elements.data(), elements.size_bytes());
  return bytes;
}

}  // namespace diacut
