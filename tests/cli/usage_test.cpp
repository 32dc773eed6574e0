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

TEST_F(CliUsage, PrintedConfigurationReadsBackAsItself) {
  const Result printed = expect_done(segment(
      "--print-config --regions 7 --tolerance 3e-5 --set boundary.sigma=1.75 --solver spectra"));
  EXPECT_THAT(printed.err, IsEmpty());
  write("printed.toml", printed.out);
  const Result again = expect_done(segment("--print-config --config printed.toml"));
  EXPECT_EQ(again.out, printed.out);
  EXPECT_NE(printed.out, segment("--print-config").out);
}

TEST_F(CliUsage, OptionsWinOverTheConfigurationAndThatOverDefaults) {
  write("c.toml", "[region]\nregions = 3\nmin_size = 9\n");
  const std::string text =
      segment("--print-config --config c.toml --set region.regions=4 --regions 5").out;
  EXPECT_TRUE(std::regex_search(text, std::regex("\nregions = 5\\b"))) << text;
  EXPECT_TRUE(std::regex_search(text, std::regex("\nmin_size = 9\\b"))) << text;
  EXPECT_TRUE(std::regex_search(text, std::regex("\nvectors = 17\\b"))) << text;
}

TEST_F(CliUsage, AnAssignmentLeavesTheImagesAfterItAlone) {
  write_picture("a.png");
  expect_done(segment("--set region.regions=2 --set region.min_size=0 a.png -o x.png"));
  EXPECT_TRUE(exists("x.png"));
  const Result printed = segment("--set region.regions=3 a.png --print-config");
  EXPECT_TRUE(std::regex_search(printed.out, std::regex("\nregions = 3\\b"))) << printed.err;
}

TEST_F(CliUsage, HelpThatCannotBeWrittenIsAnError) {
  expect_error(segment("--help", {.out = Out::kFull}), 3, {"standard output", "full"});
  expect_error(segment("--help", {.out = Out::kClosed}), 3, {"standard output"});
}

TEST_F(CliUsage, ALoneDashDashEndsTheOptions) {
  write_picture("-odd.png");
  expect_done(segment("-o x.png -- -odd.png"));
  expect_labels(read_picture("x.png"));
}

}  // namespace
}  // namespace diacut::testing
