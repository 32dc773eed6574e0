#include "cli_test.hpp"
#include "matchers.hpp"

namespace diacut::testing {
namespace {

constexpr const char* kErase = "\r\033[K";

/// The transient lines: the texts shown between two erasures of the line, without whole lines.
std::vector<std::string> transient_lines(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = text.find(kErase); begin != std::string::npos;) {
    begin += 4;
    const std::size_t end = text.find(kErase, begin);
    const std::string line = text.substr(begin, end == std::string::npos ? end : end - begin);
    if (!line.empty() && line.find('\n') == std::string::npos) lines.push_back(line);
    begin = end;
  }
  return lines;
}

class CliTerminal : public CliTest {
 protected:
  static constexpr int kImages = 25;

  CliTerminal() {
    make_folder("photos");
    for (int i = 0; i < kImages; ++i) write_picture("photos/" + std::to_string(i) + ".png");
  }
};

TEST_F(CliTerminal, ABatchShowsABarWithinTheWidth) {
  for (const auto width : std::initializer_list<unsigned short>{40, 100}) {
    const Result result = expect_done(segment("photos -o out", {.terminal_width = width}));
    const std::vector<std::string> lines = transient_lines(result.err);
    ASSERT_GE(lines.size(), 2u) << result.err;
    bool rate = false;
    for (const std::string& line : lines) {
      EXPECT_LT(line.size(), width) << line;
      EXPECT_EQ(line.front(), '[');
      EXPECT_THAT(line, HasSubstr("/25"));
      rate = rate || line.find("images/s") != std::string::npos;
      if (width == 100 && line.find("images/s") != std::string::npos) {
        EXPECT_THAT(line, HasSubstr(" left"));
      }
    }
    EXPECT_TRUE(rate) << result.err;
    EXPECT_THAT(result.err, HasSubstr("25 done"));
  }
}

TEST_F(CliTerminal, ASingleImageShowsItsStage) {
  const Result result = expect_done(segment("photos/0.png -o x.png", {.terminal_width = 80}));
  const std::vector<std::string> lines = transient_lines(result.err);
  ASSERT_FALSE(lines.empty());
  for (const std::string& line : lines) EXPECT_THAT(line, HasSubstr("photos/0.png: "));
}

}  // namespace
}  // namespace diacut::testing
