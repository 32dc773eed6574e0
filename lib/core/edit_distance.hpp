#pragma once

#include <cstddef>
#include <string_view>

namespace diacut {

/// The Levenshtein distance: the least number of characters to insert, remove or replace that turns
/// one text into the other.
std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace diacut
