#include <regex>
#include <sstream>
#include <tuple>
#include <utility>

#include "cli_test.hpp"
#include "matchers.hpp"

namespace diacut::testing {
namespace {

class CliUsage : public CliTest {};

TEST_F(CliUsage, HelpIsInGroupsFitsATerminalAndEndsWithExamples) {
  using Parts = std::vector<std::string>;
  const std::vector<std::tuple<Result, Result, Parts>> all = {
      {segment("--help"),
       segment("-h"),
       {"\nInput and output:\n", "\nMany images:\n", "\nSegmentation:\n", "\nParameters:\n",
        "\nDevice:\n", "\nMessages and help:\n", "\nExamples:\n", "segment recut"}},
      {segment("recut --help"),
       segment("recut -h"),
       {"Usage: segment recut TREE", "--output", "--ultrametric", "--threshold", "--help"}},
      {evaluate("--help"),
       evaluate("-h"),
       {"\nInput:\n", "\nScores:\n", "\nOutput:\n", "\nMessages and help:\n", "\nExamples:\n"}},
      {bench("--help"),
       bench("-h"),
       {"control", "spmv", "formats", "cocktail", "tune", "jacobian", "eigen"}}};
  for (const auto& [help, briefly, parts] : all) {
    expect_done(help);
    EXPECT_EQ(briefly.out, help.out);
    EXPECT_THAT(help.err, IsEmpty());
    std::size_t at = 0;
    for (const std::string& part : parts) {
      const std::size_t found = help.out.find(part);
      EXPECT_NE(found, std::string::npos) << part;
      if (!part.starts_with('\n')) continue;
      EXPECT_GE(found, std::exchange(at, found)) << part;
    }
    if (at == 0) continue;  // It has no groups.
    std::istringstream lines(help.out);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
  }
  for (const char* command : {"control", "spmv", "formats", "cocktail", "tune", "jacobian"}) {
    EXPECT_THAT(expect_done(bench(fmt::format("{} --help", command))).out, HasSubstr("--json"));
  }
}

TEST_F(CliUsage, VersionIsOneLine) {
  for (const Result& result : {segment("--version"), evaluate("--version"), bench("--version")}) {
    EXPECT_TRUE(std::regex_match(
        result.out, std::regex("(segment|diacut-[a-z]+) \\(diacut\\) \\d+\\.\\d+\\.\\d+\n")))
        << result.out;
    EXPECT_THAT(result.err, IsEmpty());
  }
}

}  // namespace
}  // namespace diacut::testing
