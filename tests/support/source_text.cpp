#include "source_text.hpp"

#include <algorithm>
#include <fstream>
#include <regex>
#include <sstream>

namespace diacut::testing {

namespace fs = std::filesystem;

namespace {

/// Whether `found` begins a comment; else it is a literal.
bool is_comment(const std::string& found) {
  return found.starts_with("//") || found.starts_with("/*");
}

std::string blanked(const std::string& source, bool literals) {
  static const std::regex skipped(
      R"re(//[^\n]*|/\*[^]*?\*/|R"(\w*)\([^]*?\)\1"|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)+')re");
  static const std::regex include_before(R"(#include\s*$)");
  std::string code;
  auto at = source.cbegin();
  for (std::sregex_iterator match(source.begin(), source.end(), skipped), end; match != end;
       ++match) {
    const auto& found = (*match)[0];
    const std::string before(at, found.first);
    code += before;
    // The file name of an include is no literal.
    const bool kept =
        !is_comment(found.str()) && (!literals || std::regex_search(before, include_before));
    if (kept) {
      code += found.str();
    } else {
      const auto lines = std::count(found.first, found.second, '\n');
      code += std::string(static_cast<std::size_t>(lines), '\n') + ' ';
    }
    at = found.second;
  }
  return code.append(at, source.cend());
}

}  // namespace

std::string text_of(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::string without_comments(const std::string& source) { return blanked(source, false); }

std::string without_comments_and_literals(const std::string& source) {
  return blanked(source, true);
}

std::vector<fs::path> files_with(const fs::path& root, const std::vector<std::string>& extensions) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    const std::string extension = entry.path().extension().string();
    if (std::find(extensions.begin(), extensions.end(), extension) != extensions.end()) {
      paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace diacut::testing
