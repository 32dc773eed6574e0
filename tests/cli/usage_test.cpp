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

struct Wrong {
  std::string line;
  std::vector<std::string> told;
};

void PrintTo(const Wrong& wrong, std::ostream* stream) { *stream << wrong.line; }

class CliWrongUsage : public CliTest, public ::testing::WithParamInterface<Wrong> {};

TEST_P(CliWrongUsage, IsToldAndEndsWithTwo) {
  write_picture("a.png");
  write_picture("b.png");
  make_folder("photos");
  write_picture("photos/c.png");
  write("wrong.toml", "[eigen]\nvectors = 17\nvektors = 3\n");
  write("broken.toml", "[eigen\n");
  const std::set<std::string> before = files();
  // There is no device, because usage errors are found without one.
  expect_error(segment(GetParam().line, kNoDevice), 2, GetParam().told);
  EXPECT_EQ(files(), before);
}

INSTANTIATE_TEST_SUITE_P(
    All, CliWrongUsage,
    ::testing::Values(
        Wrong{"", {"no image given", "--help"}},
        Wrong{"a.png --regoins 4", {"--regoins", "did you mean --regions?"}},
        Wrong{"a.png --out=b", {"--out", "did you mean --output?"}}, Wrong{"a.png -x", {"'-x'"}},
        Wrong{"a.png -o", {"--output needs a value"}}, Wrong{"a.png -o ''", {"--output", "empty"}},
        Wrong{"a.png -o x.png -o y.png", {"--output", "more than once"}},
        Wrong{"a.png --quiet --verbose", {"--quiet", "--verbose"}},
        Wrong{"a.png --quiet=yes", {"--quiet", "no value"}},
        Wrong{"a.png --regions many", {"--regions", "'many'", "an integer"}},
        Wrong{"a.png --regions -1", {"--regions", "'-1'"}},
        Wrong{"a.png --radius 11", {"--radius", "'11'", "from 1 to 10"}},
        Wrong{"a.png --matvec fast", {"--matvec", "'fast'", "unrolled"}},
        Wrong{"a.png --solver qr", {"--solver", "'qr'", "lanczos"}},
        Wrong{"a.png --memory lots", {"--memory", "'lots'", "1500M"}},
        Wrong{"a.png --memory 0", {"--memory", "'0'"}},
        Wrong{"a.png --time-limit 0", {"--time-limit", "'0'", "seconds"}},
        Wrong{"a.png --time-limit 2m", {"--time-limit", "'2m'"}},
        Wrong{"a.png --time-limit nan", {"--time-limit", "'nan'"}},
        Wrong{"a.png --memory 2T", {"--memory", "'2T'"}},
        Wrong{"a.png --memory 99999999999G", {"--memory", "99999999999G"}},
        Wrong{"a.png --tolerance nan", {"--tolerance", "nan"}},
        Wrong{"a.png --method kmeans", {"--method", "'kmeans'", "hierarchy"}},
        Wrong{"a.png --method kway --tree x.tree", {"--tree", "--method hierarchy"}},
        Wrong{"a.png --method kway --ultrametric x.png", {"--ultrametric"}},
        Wrong{"a.png --method kway --threshold 0.3", {"--threshold"}},
        Wrong{"a.png --method kway --merging learned", {"--merging", "hierarchy"}},
        Wrong{"a.png --merging area", {"--merging", "'area'", "strength"}},
        Wrong{"a.png --set region.merging_weights=none.json -o x.png",
              {"region.merging_weights", "none.json"}},
        Wrong{"a.png --threshold high", {"--threshold", "'high'", "auto"}},
        Wrong{"a.png --regions 3 --threshold 0.3", {"--threshold", "no effect"}},
        Wrong{"a.png --method kway --regions 3 --max-ncut 0.1", {"--max-ncut", "no effect"}},
        Wrong{"a.png --max-ncut 0.1", {"--max-ncut", "--method kway"}},
        Wrong{"a.png --config nuclei --regions 3", {"--regions", "objects"}},
        Wrong{"a.png --config nuclei --edges b.png", {"--edges", "objects"}},
        Wrong{"a.png --cue gradient --weights fast", {"--weights", "learned"}},
        Wrong{"a.png --detail 0", {"--detail", "0", "native"}},
        Wrong{"a.png --detail big", {"--detail", "big", "native"}},
        Wrong{"a.png --min-size -1", {"--min-size", "-1", "0.2%"}},
        Wrong{"a.png --min-size 200%", {"--min-size", "200%"}},
        Wrong{"a.png --method hierarchy --tree -", {"--tree", "standard output"}},
        Wrong{"a.png --method hierarchy --ultrametric x.jpg", {"x.jpg", ".npy"}},
        Wrong{"a.png --method hierarchy --tree x -o ./x", {"--tree", "-o"}},
        Wrong{"a.png --set eigen.vectors", {"--set", "KEY=VALUE"}},
        Wrong{"a.png --set eigen.vektors=4", {"--set", "eigen.vektors", "eigen.vectors"}},
        Wrong{"a.png --set eigen.vectors=1", {"--set", "eigen.vectors"}},
        Wrong{"a.png --solver lanczos -o x.png", {"--solver", "--spectral full"}},
        Wrong{"a.png --vectors 33 -o x.png", {"--vectors", "--eigenvectors"}},
        Wrong{"a.png --set eigen.basis=18 --vectors 18", {"eigen.basis"}},
        Wrong{"a.png --config missing.toml", {"missing.toml"}},
        Wrong{"a.png --config wrong.toml", {"wrong.toml", "3", "eigen.vektors"}},
        Wrong{"a.png --config broken.toml", {"broken.toml", "1"}},
        Wrong{"a.png -o - --json -", {"-o", "--json", "standard output"}},
        Wrong{"a.png --overlay -", {"--overlay", "standard output"}},
        Wrong{"a.png --eigenvectors -", {"--eigenvectors", "standard output"}},
        Wrong{"a.png -o labels.gif", {"labels.gif", ".png", ".npy"}},
        Wrong{"a.png --page a.html", {"--page chooses a page of the file", "--html a.html"}},
        Wrong{"a.png -o labels", {"labels", ".png", ".npy"}},
        Wrong{"a.png -o labels.npy --indexed", {"labels.npy", ".png only"}},
        Wrong{"a.png --overlay x.tif", {"x.tif", ".jpg"}},
        Wrong{"a.png --overlay x.png --indexed", {"--indexed", "-o"}},
        Wrong{"a.png -o x.png --overlay ./x.png", {"-o", "--overlay", "x.png"}},
        Wrong{"a.png b.png -o x.png", {"-o", "x.png", "folder"}},
        Wrong{"a.png b.png -o -", {"-o", "folder"}},
        Wrong{"a.png new.png", {"'new.png'", "-o new.png"}},
        Wrong{"a.png b.png", {"several inputs", "-o"}},
        Wrong{"- - -o out", {"standard input", "twice"}}, Wrong{"-", {"standard input", "-o"}},
        Wrong{"a.png -o a.png", {"'a.png'", "overwritten"}},
        Wrong{"a.png -o x.png --json ./a.png", {"--json", "overwritten"}},
        Wrong{"photos -o photos", {"photos", "both input and output"}},
        Wrong{"photos -o out --overlay out", {"-o", "--overlay"}},
        Wrong{"photos -o out --edges a.png", {"--edges", "folder"}},
        Wrong{"a.png --edges b.png --cue gradient", {"--edges", "--cue"}},
        Wrong{"a.png --edges b.png -o b.png", {"'b.png'", "overwritten"}},
        Wrong{"a.png --cue sobel", {"--cue", "'sobel'", "learned", "gradient"}},
        Wrong{"a.png --cue learned --weights missing.safetensors",
              {"cue.weights", "missing.safetensors"}},
        Wrong{"a.png --cue learned --weights photos", {"cue.weights", "photos"}},
        Wrong{"a.png --set cue.scales=1,,2", {"cue.scales", "'1,,2'"}}));

TEST_F(CliUsage, PrintedConfigurationReadsBackAsItself) {
  const Result printed = expect_done(
      segment("--print-config --regions 7 --tolerance 3e-5 --set cue.sigma=1.75 --solver spectra"));
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
