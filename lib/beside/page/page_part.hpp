#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/embedded_text.hpp"

namespace diacut {

/// Most pixels of the picture in a page: browsers of phones draw no larger one.
inline constexpr std::int64_t kMostPagePixels = 16'777'216;
inline constexpr int kMostPageSide = 16'384;  ///< Longest side of the picture in a page, pixels.

/// The files of lib/beside/page/parts/, which pages are put together from.
const std::vector<EmbeddedText>& embedded_pages();

/// The text of a file of lib/beside/page/parts/, which is built into the library; those of HTML are
/// formats of named values. Precondition: there is such a file.
std::string_view page_part(std::string_view name);

/// Throws ConfigError unless the extension is one of write_page().
void check_page_name(const std::string& path);

}  // namespace diacut
