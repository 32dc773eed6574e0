#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>

#include "diacut/errors.hpp"

namespace diacut {

/// Throws InputError that says what is wrong with a network's file. The caller that knows the name
/// of the file adds it.
[[noreturn]] inline void reject_network(const std::string& what) { throw InputError(what); }

/// The value of the key `name` of a JSON object: a bool, a std::string, or an integer for any other
/// T. `where` names the object in messages. Throws InputError where the key is missing or its value
/// has another type.
template <class T>
T required_field(const nlohmann::json& object, const char* name, const std::string& where) {
  const auto found = object.find(name);
  if (found == object.end()) reject_network(fmt::format("{} has no \"{}\"", where, name));
  const bool fits = [&] {
    if constexpr (std::is_same_v<T, bool>) {
      return found->is_boolean();
    } else if constexpr (std::is_same_v<T, std::string>) {
      return found->is_string();
    } else {
      return found->is_number_integer();
    }
  }();
  if (!fits) reject_network(fmt::format("\"{}\" of {} is of the wrong type", name, where));
  return found->template get<T>();
}

/// The integer of the key `name`. Throws InputError as required_field() does, and where the value
/// is less than `least` or more than `most`.
inline int bounded_field(const nlohmann::json& object, const char* name, const std::string& where,
                         int least, int most) {
  const auto value = required_field<std::int64_t>(object, name, where);
  if (value < least || value > most) {
    reject_network(
        fmt::format("\"{}\" of {} is {}, expected {} to {}", name, where, value, least, most));
  }
  return static_cast<int>(value);
}

}  // namespace diacut
