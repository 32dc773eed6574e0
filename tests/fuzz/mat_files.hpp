#pragma once

#include <vector>

#include "target.hpp"

namespace diacut::fuzz {

/// MATLAB files with numbers of each type, and elements of each kind, written byte by byte.
std::vector<FileBytes> mats_of_all_types();

}  // namespace diacut::fuzz
