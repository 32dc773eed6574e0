#pragma once

#include <cstddef>
#include <string_view>

namespace diacut {

/// Levenshtein's: the least number of characters inserted, removed or replaced that makes one text
/// of the other.
std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace diacut
