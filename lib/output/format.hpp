#pragma once

#include <string>

#include "diacut/errors.hpp"

namespace diacut {

/// The extension of a path's file name in lower case with its dot (".png"); "" if it has none.
std::string lower_extension(const std::string& path);

ConfigError unknown_extension(const std::string& path, const std::string& what,
                              const std::string& known);

}  // namespace diacut
