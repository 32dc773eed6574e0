#pragma once

#include <filesystem>

namespace diacut {

/// Where diacut keeps what it measured and built for a user: $XDG_DATA_HOME/diacut, or
/// ~/.local/share/diacut; empty without a home.
std::filesystem::path data_folder();

}  // namespace diacut
