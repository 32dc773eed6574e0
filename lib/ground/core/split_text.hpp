#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <limits>
#include <numeric>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
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

/// The Levenshtein distance: the least number of characters to insert, remove or replace that turns
/// one text into the other.
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

/// The number that all of a text is, from `least` to `most`; nothing if it is none.
template <class Number = std::size_t>
std::optional<Number> number_in(std::string_view text,
                                Number least = std::numeric_limits<Number>::lowest(),
                                Number most = std::numeric_limits<Number>::max()) {
  Number number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, number);
  if (code != std::errc() || stop != end || !(number >= least && number <= most)) {
    return std::nullopt;
  }
  return number;
}

}  // namespace diacut
