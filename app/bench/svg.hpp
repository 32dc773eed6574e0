#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace diacut::bench {

inline std::string svg_escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '<') {
      result += "&lt;";
    } else if (c == '&') {
      result += "&amp;";
    } else {
      result += c;
    }
  }
  return result;
}

/// The start of a picture that "</svg>" ends: white, with a title that begins at `left`.
inline std::string svg_head(double width, double height, const std::string& title, double left) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      "<text x=\"{2}\" y=\"28\" font-size=\"15\">{3}</text>\n",
      width, height, left, svg_escaped(title));
}

}  // namespace diacut::bench
