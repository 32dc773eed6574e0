#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

namespace diacut::testing {

/// A .npy file of version `major`, 1 or 2, with any text for a header, before the elements' bytes.
std::string npy_file(const std::string& header, const std::string& bytes = {}, int major = 1);
/// A .npy file of one dimension, or of none, of elements whose bytes are given.
std::string npy_of(const std::string& type, const std::string& shape, const std::string& bytes);

/// The bytes of numbers.
template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}
template <class T>
std::string npy_of(const std::string& type, const std::vector<T>& values) {
  return npy_of(type, fmt::format("({},)", values.size()), bytes_of(values));
}

/// A member of a ZIP archive.
struct ZipMember {
  std::string name;
  std::string bytes;
  bool deflated = false;
  bool in_64_bits = false;        ///< Sizes in the extra field, as for large members.
  std::int64_t claimed_more = 0;  ///< Added to the size that the headers say.
};

/// A ZIP archive of the members.
std::string zip_of(const std::vector<ZipMember>& members);

}  // namespace diacut::testing
