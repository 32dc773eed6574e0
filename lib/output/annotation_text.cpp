#include <nlohmann/json.hpp>

#include "output/annotation_parts.hpp"
#include "output/page_text.hpp"

namespace diacut {
namespace {

constexpr const char* kReplacement = "\xEF\xBF\xBD";  // U+FFFD

/// Whether three bytes are U+FFFE or U+FFFF, which XML excludes.
bool is_noncharacter(const std::string& text, std::size_t at) {
  return text.compare(at, 3, "\xEF\xBF\xBE") == 0 || text.compare(at, 3, "\xEF\xBF\xBF") == 0;
}

}  // namespace

std::string json_text(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string xml_text(const std::string& text) {
  const std::string clean = valid_utf8(text);
  std::string out;
  for (std::size_t i = 0; i < clean.size(); ++i) {
    const char c = clean[i];
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else if (c == '\t' || c == '\n' || c == '\r') {
      out += "&#" + std::to_string(int{c}) + ';';
    } else if (static_cast<unsigned char>(c) < ' ') {
      out += kReplacement;
    } else if (is_noncharacter(clean, i)) {
      out += kReplacement;
      i += 2;
    } else {
      out += c;
    }
  }
  return out;
}

std::string compressed_counts(const std::vector<std::uint32_t>& counts) {
  std::string text;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    std::int64_t rest = counts[i];
    if (i > 2) rest -= counts[i - 2];
    for (bool more = true; more;) {
      std::int64_t group = rest & 31;
      rest >>= 5;
      // The highest bit of the last group is the sign.
      more = (group & 16) != 0 ? rest != -1 : rest != 0;
      if (more) group |= 32;
      text += static_cast<char>('0' + group);
    }
  }
  return text;
}

}  // namespace diacut
