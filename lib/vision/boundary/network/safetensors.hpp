#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "diacut/errors.hpp"

namespace diacut {

/// Throws InputError that says what is wrong with a network's file. The caller that knows the name
/// of the file adds it.
template <class... Values>
[[noreturn]] void reject_network(fmt::format_string<Values...> what, Values&&... values) {
  throw InputError(fmt::format(what, std::forward<Values>(values)...));
}

/// The value of the key `name` of a JSON object: a bool, a std::string, or an integer for any other
/// T. `where` names the object in messages. Throws InputError where the key is missing or its value
/// has another type.
template <class T>
T required_field(const nlohmann::json& object, const char* name, const std::string& where) {
  const auto found = object.find(name);
  if (found == object.end()) reject_network("{} has no \"{}\"", where, name);
  const bool fits = [&] {
    if constexpr (std::is_same_v<T, bool>) {
      return found->is_boolean();
    } else if constexpr (std::is_same_v<T, std::string>) {
      return found->is_string();
    } else {
      return found->is_number_integer();
    }
  }();
  if (!fits) reject_network("\"{}\" of {} is of the wrong type", name, where);
  return found->template get<T>();
}

/// The integer of the key `name`. Throws InputError as required_field() does, and where the value
/// is less than `least` or more than `most`.
inline int bounded_field(const nlohmann::json& object, const char* name, const std::string& where,
                         int least, int most) {
  const auto value = required_field<std::int64_t>(object, name, where);
  if (value < least || value > most) {
    reject_network("\"{}\" of {} is {}, expected {} to {}", name, where, value, least, most);
  }
  return static_cast<int>(value);
}

/// Files of more bytes than this are refused: no network of this kind is near it, so a file that
/// claims to be larger is damaged or hostile.
inline constexpr std::size_t kMaxNetworkFileBytes = std::size_t{1} << 28;

/// A tensor that a file holds, as floats.
struct StoredTensor {
  std::vector<std::size_t> shape;
  std::vector<float> values;  ///< As many as the product of `shape`, the last index fastest.
};

/// "[a, b, c]", for messages.
std::string shape_text(const std::vector<std::size_t>& shape);

/// A file in the safetensors format: an 8-byte little-endian length, a JSON header of that length,
/// the data of the tensors. Tensors of type F16 and F32 are known. Every function throws InputError
/// that says what is wrong, without the name of the file.
class Safetensors {
 public:
  /// Checks the header, and that each byte of the data belongs to exactly one tensor. Refers to
  /// `file`, which must outlive this object.
  explicit Safetensors(std::span<const std::byte> file);

  /// The object "__metadata__" of the header; an empty object where there is none.
  const nlohmann::json& metadata() const;

  /// The tensor of this name. Throws also where a value is not finite.
  StoredTensor read(const std::string& name) const;

 private:
  /// Where a tensor lies in the data.
  struct Extent {
    std::string name;
    std::vector<std::size_t> shape;
    std::size_t element = 0;  ///< Bytes of an element.
    std::size_t begin = 0;    ///< The first byte of the tensor in data_.
    std::size_t end = 0;      ///< One past its last byte.
  };

  Extent extent_of(const std::string& name, const nlohmann::json& entry) const;
  void check_layout() const;

  nlohmann::json header_;
  std::span<const std::byte> data_;
};

}  // namespace diacut
