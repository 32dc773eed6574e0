#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace diacut {

/// A text for HTML, between tags or in quotes.
std::string html_escaped(std::string_view text);

/// The text that html_escaped() has made into `text`.
std::string html_unescaped(std::string_view text);

/// A text as a JSON string in its quotes; bytes that are no UTF-8 are replaced.
std::string json_text(const std::string& text);

bool is_utf8(const std::string& text);

/// A text for an XML attribute or element: markup and line ends as references; characters that XML
/// 1.0 cannot hold and bytes that are no UTF-8 are replaced by U+FFFD.
std::string xml_text(const std::string& text);

std::string base64(std::span<const std::uint8_t> bytes);

/// Bytes compressed in the format of zlib (RFC 1950).
std::vector<std::uint8_t> deflated(std::span<const std::uint8_t> bytes);

/// A path as a link in a page: what is no letter, digit or "-._~/" as %XX.
std::string link_to(std::string_view path);

}  // namespace diacut
