#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

namespace diacut {

/// The parts of a text between separators, as views into it. A separator that ends the text ends
/// its last part; an empty text has no part.
///
/// Streams are not used for this: they take a failed allocation for the end of the text, so that
/// the rest would be lost without an error.
inline std::vector<std::string_view> split_text(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t length = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, length));
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  return parts;
}

}  // namespace diacut
