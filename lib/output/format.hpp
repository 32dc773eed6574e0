#pragma once

#include <string>

#include "diacut/errors.hpp"

namespace diacut {

/// The extension of a path's file name in lower case with its dot (".png"); "" if it has none.
std::string lower_extension(const std::string& path);

/// What messages call a path that is written to: "standard output" for "-".
std::string display_name(const std::string& path);

/// What `encode` returns. An InputError that it throws gets `path` in front of its message.
template <typename Encode>
auto encode_for(const std::string& path, const Encode& encode) {
  try {
    return encode();
  } catch (const InputError& error) {
    throw InputError(display_name(path) + ": " + error.what());
  }
}

/// The error for a path whose extension is not known. `what`: what is to be written, as "labels";
/// `known`: the known extensions.
ConfigError unknown_extension(const std::string& path, const std::string& what,
                              const std::string& known);

}  // namespace diacut
