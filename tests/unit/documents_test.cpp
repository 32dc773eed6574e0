// The documents: what they link to, the files that they name and the lines of kernels that they
// quote are there, and they stay short.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "source_text.hpp"

namespace diacut {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::text_of;

namespace fs = std::filesystem;

const fs::path kRoot = DIACUT_SOURCE_DIR;

std::vector<fs::path> documents() {
  std::vector<fs::path> found = {kRoot / "README.md", kRoot / "CONTRIBUTING.md",
                                 kRoot / "images" / "GALLERY.md"};
  for (const auto& entry : fs::directory_iterator(kRoot / "docs")) {
    if (entry.path().extension() == ".md") found.push_back(entry.path());
  }
  return found;
}

/// The anchors of a document's headings, as GitHub and GitLab make them: lower case, punctuation
/// dropped, spaces as hyphens.
std::set<std::string> anchors(const std::string& text) {
  std::set<std::string> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t begin = line.find_first_not_of('#');
    if (begin == 0 || begin == std::string::npos || line[begin] != ' ') continue;
    std::string anchor;
    for (const char c : line.substr(begin + 1)) {
      if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_') {
        anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      } else if (c == ' ') {
        anchor += '-';
      }
    }
    found.insert(anchor);
  }
  return found;
}

/// Links within the repository that lead nowhere. `folder`: what they are relative to.
std::vector<std::string> dead_links(const std::string& text, const fs::path& folder) {
  std::vector<std::string> dead;
  const std::regex link(R"(\]\(([^)\s]+)\))");
  for (std::sregex_iterator match(text.begin(), text.end(), link), end; match != end; ++match) {
    const std::string target = (*match)[1];
    if (target.find("://") != std::string::npos) continue;
    const std::size_t hash = target.find('#');
    const std::string file = target.substr(0, hash);
    const fs::path path = folder / file;
    if (!file.empty() && !fs::exists(path)) {
      dead.push_back(target);
    } else if (hash != std::string::npos) {
      const std::string page = file.empty() ? text : text_of(path);
      if (!anchors(page).contains(target.substr(hash + 1))) dead.push_back(target);
    }
  }
  return dead;
}

/// Paths of the source tree in back quotes ("`lib/matrix/grid.hpp`", and "`lib/matrix/grid`" for
/// both files of that stem) that are not there. Patterns (with <, * or capital words) are passed.
std::vector<std::string> missing_paths(const std::string& text) {
  std::vector<std::string> missing;
  const std::regex quoted(
      R"(`((?:app|cmake|configs|docs|examples|images|kernels|lib|man|python|tests)/[a-z0-9_./-]+)`)");
  for (std::sregex_iterator match(text.begin(), text.end(), quoted), end; match != end; ++match) {
    const std::string path = (*match)[1];
    const auto there = [&](const char* extension) {
      return fs::exists(kRoot / (path + extension));
    };
    if (!there("") && !there(".hpp") && !there(".cpp") && !there(".cl")) missing.push_back(path);
  }
  return missing;
}

/// Lines of code blocks whose first line is "// PATH" of a kernel, or "# PATH" of an example, that
/// are not in that file.
std::vector<std::string> stale_quotes(const std::string& text) {
  std::vector<std::string> stale;
  std::istringstream lines(text);
  std::string source;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("```", 0) == 0) {
      inside = !inside;
      source.clear();
    } else if (inside && (line.starts_with("// kernels/") || line.starts_with("# examples/"))) {
      source = text_of(kRoot / line.substr(line.find(' ') + 1));
      if (source.empty()) stale.push_back(line);
    } else if (inside && !source.empty() &&
               source.find(line.substr(line.find_first_not_of(' '))) == std::string::npos) {
      stale.push_back(line);
    }
  }
  return stale;
}

std::size_t word_count(const std::string& text) {
  std::istringstream stream(text);
  return static_cast<std::size_t>(std::distance(std::istream_iterator<std::string>(stream), {}));
}

TEST(Documents, TheReadersOfLinksAndPathsSeeWhatIsNotThere) {
  const std::string text =
      "# A Heading, here\n[a](README.md) [b](nowhere.md) [c](#a-heading-here) [d](#none) "
      "[e](https://example.org/x) `lib/matrix/grid.hpp` `lib/nowhere.hpp` `lib/core` "
      "`kernels/<stage>/x.cl`\n";
  EXPECT_THAT(dead_links(text, kRoot), ElementsAre("nowhere.md", "#none"));
  EXPECT_THAT(missing_paths(text), ElementsAre("lib/nowhere.hpp"));
  EXPECT_THAT(stale_quotes("```c\n// kernels/matrix/matvec_naive.cl\n  float sum = 0.0f;\n"
                           "  float sum = 1.0f;\n```\n  float sum = 2.0f;\n"),
              ElementsAre("  float sum = 1.0f;"));
  EXPECT_THAT(
      stale_quotes("```python\n# examples/engines/shares.py\nRETRIES = 3\nRETRIES = 9\n```\n"),
      ElementsAre("RETRIES = 9"));
  EXPECT_EQ(word_count("one two\n  three"), 3u);
}

TEST(Documents, LinksNamedFilesAndQuotedLinesAreThere) {
  EXPECT_GE(documents().size(), 8u);
  for (const fs::path& path : documents()) {
    const std::string text = text_of(path);
    ASSERT_FALSE(text.empty()) << path;
    EXPECT_THAT(dead_links(text, path.parent_path()), IsEmpty()) << path;
    EXPECT_THAT(missing_paths(text), IsEmpty()) << path;
    EXPECT_THAT(stale_quotes(text), IsEmpty()) << path;
  }
}

TEST(Documents, AreShort) {
  EXPECT_LE(word_count(text_of(kRoot / "README.md")), 900u);
  EXPECT_LE(word_count(text_of(kRoot / "CONTRIBUTING.md")), 900u);
  EXPECT_LE(word_count(text_of(kRoot / "CHANGELOG.md")), 500u);
  std::size_t all = word_count(text_of(kRoot / "CHANGELOG.md"));
  for (const fs::path& path : documents()) {
    const std::size_t count = word_count(text_of(path));
    all += count;
    // The programs write the reference.
    if (path.filename() == "reference.md") continue;
    EXPECT_LE(count, 2500u) << path;
  }
  EXPECT_LE(all, 32'000u);
}

}  // namespace
}  // namespace diacut
