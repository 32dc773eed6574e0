// The command lines of wrong_usage.txt.
#include <fmt/ranges.h>

#include <sstream>

#include "cli_test.hpp"
#include "temp_folder.hpp"

namespace diacut::testing {
namespace {

std::vector<std::string> split(const std::string& text, const std::string& at) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t end = 0; end != std::string::npos; begin = end + at.size()) {
    end = text.find(at, begin);
    parts.push_back(text.substr(begin, end - begin));
  }
  return parts;
}

class CliWrongUsage : public CliTest {
 protected:
  CliWrongUsage() {
    write_pictures({"a.png", "b.png", "photos/c.png", "pages/index.png", "in/a.png"});
    for (const char* folder : {"results", "truth", "scenes"}) make_folder(folder);
    // None of them is read.
    for (const char* name : {"a.tree", "list", "p.npy", "scene.tif", "scenes/a.tif", "seeds.png",
                             "stack.tif", "two.pgm", "w.npz", "x.npy"}) {
      write(name, "nothing");
    }
    write("wrong.toml", "[eigen]\nvectors = 17\nvektors = 3\n");
    write("broken.toml", "[eigen\n");
  }

  void expect_refused(const std::string& line, const std::vector<std::string>& told) const {
    SCOPED_TRACE(line);
    std::vector<std::string> words = words_of(line);
    const std::string name = words.front();
    words.erase(words.begin());
    const std::string program = name == "segment"           ? DIACUT_SEGMENT
                                : name == "diacut-evaluate" ? DIACUT_EVALUATE
                                                            : DIACUT_BENCH;
    const std::set<std::string> before = files();
    // There is no device, because wrong usage is found without one.
    expect_error(start_program(program, words, kNoDevice)->wait(), 2, told, name);
    EXPECT_EQ(files(), before);
  }
};

TEST_F(CliWrongUsage, IsToldAndEndsWithTwo) {
  std::istringstream lines(read_bytes(DIACUT_SOURCE_DIR "/tests/cli/wrong_usage.txt"));
  int tried = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.front() == '#') continue;
    const std::size_t bar = line.find(" | ");
    const std::string words = line.substr(0, bar);
    const std::size_t begin = words.find('{');
    const std::size_t end = words.find('}');
    const std::string values =
        begin == std::string::npos ? "" : words.substr(begin + 1, end - begin - 1);
    for (const std::string& value : split(values, ",")) {
      const std::string tail =
          fmt::format("{}", fmt::join(split(line.substr(bar + 3), "{}"), value));
      expect_refused(
          values.empty() ? words : words.substr(0, begin) + value + words.substr(end + 1),
          split(tail, " | "));
      ++tried;
    }
  }
  EXPECT_GT(tried, 250);
}

}  // namespace
}  // namespace diacut::testing
