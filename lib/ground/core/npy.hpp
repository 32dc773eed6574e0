#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes.hpp"

namespace diacut {

/// What the header of a .npy file says of the array (NumPy, "NEP 1: a simple file format for NumPy
/// arrays").
struct NpyHeader {
  std::string type;            ///< NumPy's name of the element type, as "<f4".
  bool fortran_order = false;  ///< Whether the first index varies fastest.
  std::vector<std::uint64_t> shape;
  std::size_t size = 0;  ///< Bytes before the elements.

  /// The order of bytes in an element: '<', '>', '=' (the machine's) or '|' (one byte).
  char byte_order() const { return type.front(); }
  /// Whether that is not the machine's.
  bool is_swapped() const {
    return (byte_order() == '>') != (std::endian::native == std::endian::big);
  }
  /// Kind and bytes of an element, as "f4".
  std::string_view kind() const { return std::string_view(type).substr(1); }
};

/// So many first bytes hold the size of any header, for parse_npy_header().
inline constexpr std::size_t kNpyPrefix = 12;
/// The longest header that is read. NumPy's own are shorter than 200 bytes.
inline constexpr std::size_t kMostNpyHeader = 65'536;

/// Whether a file is a .npy file.
bool is_npy(Bytes file);

/// Reads the header. `file`: the first bytes of the file, kNpyPrefix + kMostNpyHeader of them or
/// all that there are. Nothing is allocated but what the header holds. Throws InputError, whose
/// message does not name the file, where the header is cut off, too long, or not the text of a
/// Python dictionary with 'descr', 'fortran_order' and 'shape' and nothing else.
NpyHeader parse_npy_header(Bytes file);

/// Throws the InputError of a file that ends too early.
[[noreturn]] void npy_cut_off();

/// The number of elements of the array. Throws InputError where they take more than `available`
/// bytes, those that follow the header, at `bytes_each`.
std::size_t npy_elements(const NpyHeader& header, std::size_t bytes_each, std::uint64_t available);

/// The bytes of an element of a type that numbers_of() reads, as "f4". Throws InputError for
/// others.
std::size_t element_bytes(std::string_view type);

/// Numbers of a type, of which there must be `count` in `bytes`. `swap`: whether the order of their
/// bytes is not the machine's. Throws InputError as element_bytes() does.
std::vector<double> numbers_of(Bytes bytes, std::string_view type, std::size_t count, bool swap);

/// A .npy file that is open behind its header.
struct NpyFile {
  std::ifstream stream;
  NpyHeader header;
  std::uint64_t available = 0;  ///< Bytes that follow; of a pipe, of unknown length, the most.
};

/// Opens a .npy file of `what`, as "features". Throws InputError, whose message does not name the
/// file, where it is missing, a folder or of another kind, and as parse_npy_header() does.
NpyFile open_npy_of(const std::string& path, const char* what);

/// Elements of an array of `height` x `width` x `channels` whose first index varies fastest, in C
/// order.
template <class T>
std::vector<T> in_c_order(const std::vector<T>& elements, int height, int width, int channels = 1) {
  std::vector<T> result;
  result.reserve(elements.size());
  const auto rows = static_cast<std::size_t>(height);
  const auto columns = static_cast<std::size_t>(width);
  for (std::size_t y = 0; y < rows; ++y) {
    for (std::size_t x = 0; x < columns; ++x) {
      for (std::size_t c = 0; c < static_cast<std::size_t>(channels); ++c) {
        result.push_back(elements[y + rows * (x + columns * c)]);
      }
    }
  }
  return result;
}

/// The shape of an array as NumPy shows it.
std::string npy_shape_text(const std::vector<std::uint64_t>& shape);

/// The next `count` elements of the machine's byte order. Memory is taken as bytes arrive, so that
/// a pipe whose header claims too much does not take it. Throws InputError where bytes are missing.
template <class T>
std::vector<T> read_npy_elements(std::istream& stream, std::size_t count) {
  constexpr std::size_t kStep = std::size_t{1} << 22;
  std::vector<T> elements;
  while (elements.size() < count) {
    const std::size_t before = elements.size();
    const std::size_t step = count - before < kStep ? count - before : kStep;
    if (elements.capacity() < before + step) {
      const std::size_t doubled = 2 * before + step;
      elements.reserve(doubled < count ? doubled : count);
    }
    elements.resize(before + step);
    const auto bytes = static_cast<std::streamsize>(step * sizeof(T));
    stream.read(reinterpret_cast<char*>(elements.data() + before), bytes);
    if (stream.gcount() != bytes) npy_cut_off();
  }
  return elements;
}

}  // namespace diacut
