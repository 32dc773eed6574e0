#include "output/markup.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <new>
#include <nlohmann/json.hpp>

namespace diacut {
namespace {

constexpr std::array<std::pair<std::string_view, char>, 5> kEntities = {
    {{"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&#39;", '\''}, {"&amp;", '&'}}};
/// zlib's own default. Higher levels take much longer for a few per cent.
constexpr int kCompression = 6;
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

/// A text whose bytes that are no UTF-8 are replaced by U+FFFD.
std::string valid_utf8(std::string_view text) {
  return nlohmann::json::parse(json_text(std::string(text))).get<std::string>();
}

/// A character, or what HTML and XML have for it.
std::string escaped(char c) {
  const auto entity = std::find_if(kEntities.begin(), kEntities.end(),
                                   [&](const auto& each) { return each.second == c; });
  return entity == kEntities.end() ? std::string(1, c) : std::string(entity->first);
}

}  // namespace

std::string html_escaped(std::string_view text) {
  std::string result;
  for (const char c : valid_utf8(text)) result += escaped(c);
  return result;
}

std::string html_unescaped(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const auto entity = std::find_if(kEntities.begin(), kEntities.end(), [&](const auto& each) {
      return text.starts_with(each.first);
    });
    const bool is_entity = entity != kEntities.end();
    result += is_entity ? entity->second : text.front();
    text.remove_prefix(is_entity ? entity->first.size() : 1);
  }
  return result;
}

bool is_utf8(const std::string& text) { return valid_utf8(text) == text; }

std::string json_text(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string xml_text(const std::string& text) {
  const std::string clean = valid_utf8(text);
  std::string out;
  for (std::size_t i = 0; i < clean.size(); ++i) {
    const char c = clean[i];
    const std::string_view three = std::string_view(clean).substr(i, 3);
    if (three == "\xEF\xBF\xBE" || three == "\xEF\xBF\xBF") {  // U+FFFE and U+FFFF.
      out += kReplacement;
      i += 2;
    } else if (c == '\t' || c == '\n' || c == '\r') {
      out += fmt::format("&#{};", int{c});
    } else if (static_cast<unsigned char>(c) < ' ') {
      out += kReplacement;
    } else {
      out += c == '\'' ? std::string(1, c) : escaped(c);
    }
  }
  return out;
}

std::string base64(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t have = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k) bits = bits << 8 | (k < have ? bytes[at + k] : 0U);
    for (std::size_t k = 0; k < 4; ++k) {
      text += k <= have ? kDigits[bits >> (18 - 6 * k) & 63] : '=';
    }
  }
  return text;
}

std::vector<std::uint8_t> deflated(std::span<const std::uint8_t> bytes) {
  uLongf size = compressBound(bytes.size());
  std::vector<std::uint8_t> result(size);
  if (compress2(result.data(), &size, bytes.data(), bytes.size(), kCompression) != Z_OK) {
    throw std::bad_alloc();
  }
  result.resize(size);
  return result;
}

std::string link_to(std::string_view path) {
  std::string link;
  for (const char c : path) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                       std::string_view("-._~/").find(c) != std::string_view::npos;
    link += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return link;
}

}  // namespace diacut
