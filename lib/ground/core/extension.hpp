#pragma once

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/split_text.hpp"

namespace diacut {

/// Whether the extension of a path is one of these, as ".png, .npy", in either case.
inline bool has_extension(const std::filesystem::path& path, std::string_view known) {
  std::string extension = path.extension().string();
  for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const std::vector<std::string_view> each = split_text(known, ' ');
  return std::any_of(each.begin(), each.end(), [&](std::string_view one) {
    return one.substr(0, one.find(',')) == extension;
  });
}

}  // namespace diacut
