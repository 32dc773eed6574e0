#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <opencv2/imgcodecs.hpp>

#include "cli_test.hpp"
#include "matchers.hpp"

namespace diacut::testing {
namespace {

namespace fs = std::filesystem;

class CliOutput : public CliTest {
 protected:
  CliOutput() { write_picture("a.png"); }
};

TEST_F(CliOutput, LabelsOnlyWhereAsked) {
  const Result result = expect_done(segment("a.png -o labels.png"));
  EXPECT_THAT(result.out, IsEmpty());
  EXPECT_THAT(files(), UnorderedElementsAre("a.png", "labels.png"));
  expect_labels(read_picture("labels.png"));
  // One line: the image, its regions, where they are, and the time.
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  for (const char* part : {"'a.png'", "region", "labels.png", " s)"}) {
    EXPECT_THAT(result.err, HasSubstr(part));
  }
}

TEST_F(CliOutput, BesideTheImageByDefault) {
  make_folder("sub");
  write_picture("sub/photo.one.png");
  expect_done(segment("sub/photo.one.png"));
  EXPECT_THAT(files(),
              UnorderedElementsAre("a.png", "sub/photo.one.png", "sub/photo.one-labels.png"));
  // Labels are not written where only another result is asked for.
  expect_done(segment("a.png --overlay overlay.jpg"));
  EXPECT_FALSE(exists("a-labels.png"));
  EXPECT_EQ(read_picture("overlay.jpg").size(), cv::Size(kWidth, kHeight));
}

TEST_F(CliOutput, AFolderTakesTheImagesName) {
  make_folder("out");
  make_folder("over");
  expect_done(segment("a.png -o out --overlay over/"));
  EXPECT_THAT(files(), UnorderedElementsAre("a.png", "out/a.png", "over/a.png"));
}

TEST_F(CliOutput, IndexedLabelsHaveAPalette) {
  expect_done(segment("a.png -o x.png --indexed"));
  constexpr std::size_t kColourType = 25;  // In the header, which comes first in a PNG.
  EXPECT_EQ(read("x.png").at(kColourType), 3);
}

TEST_F(CliOutput, StandardOutputHoldsTheDataAndNothingElse) {
  expect_done(segment("a.png -o x.png"));
  const Result labels = expect_done(segment("a.png -o - --verbose"));
  EXPECT_EQ(labels.out, read("x.png"));
  const Result report = expect_done(segment("a.png --json - --spectral full --verbose"));
  const auto json = nlohmann::json::parse(report.out);
  EXPECT_EQ(json.at("input"), "a.png");
  EXPECT_GE(json.at("regions").at("count"), 1);
  for (const char* key : {"device", "image", "parameters", "stages", "matvec", "eigen"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
}

TEST_F(CliOutput, QuietSaysNothingAndVerboseTheStages) {
  const Result quiet = expect_done(segment("a.png -o x.png --quiet"));
  EXPECT_THAT(quiet.err, IsEmpty());
  const Result plain = expect_done(segment("a.png -o x.png --verbose"));
  for (const char* part : {"81 diagonals in 11 bands", "pitch ", "by the decimated solver",
                           "eigenvalues", "--eigenvectors DIR"}) {
    EXPECT_THAT(plain.err, HasSubstr(part));
  }
  const Result fast = expect_done(segment("a.png -o x.png --config fast --verbose"));
  EXPECT_THAT(fast.err, HasSubstr("no eigenvectors"));
  const Result verbose = expect_done(segment("a.png -o x.png --spectral full --verbose"));
  for (const char* part : {"device ", " ms", "products", "residual"}) {
    EXPECT_THAT(verbose.err, HasSubstr(part));
  }
  expect_error(segment("missing.png -o x.png --quiet"), 3, {"missing.png"});
}

TEST_F(CliOutput, PlacesThatCannotBeWrittenAreToldBeforeTheWork) {
  write("file", "");
  const std::set<std::string> before = files();
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"a.png -o none/x.png", "none"},
      {"a.png -o none/", "none/"},
      {"a.png -o a.png/x.png", "a.png"},
      {"a.png --overlay none/x.png", "none"},
      {"a.png --eigenvectors none/vectors", "none"},
      {"a.png --eigenvectors file", "file"},
      {"a.png --json none/x.json", "none"},
      {"a.png a.png missing.png -o a.png/out", "a.png"},
      {"a.png missing.png -o a.png", "a.png"},
      {"a.png missing.png -o /proc/out", "/proc/out"}};
  // Before a device is looked for.
  for (const auto& [line, told] : cases) {
    SCOPED_TRACE(line);
    expect_error(segment(line, kNoDevice), 3, {told});
    EXPECT_EQ(files(), before);
  }
}

TEST_F(CliOutput, FolderWithoutPermission) {
  if (geteuid() == 0) GTEST_SKIP() << "permissions do not bind root";
  make_folder("shut");
  fs::permissions(path("shut"), fs::perms::owner_read | fs::perms::owner_exec);
  expect_error(segment("a.png -o shut/x.png", kNoDevice), 3, {"shut"});
  fs::permissions(path("shut"), fs::perms::owner_all);
}

TEST_F(CliOutput, FullStandardOutput) {
  expect_error(segment("a.png -o -", {.out = Out::kFull}), 3, {"standard output", "full"});
  expect_error(segment("a.png --json -", {.out = Out::kFull}), 3, {"standard output"});
}

TEST_F(CliOutput, ClosedStandardOutput) {
  expect_error(segment("a.png -o -", {.out = Out::kClosed}), 3, {"standard output"});
  expect_error(segment("a.png -o -", {.out = Out::kNobodyReads}), 3,
               {"standard output", "has gone"});
}

TEST_F(CliOutput, AFileThatGrowsPastTheLimitIsLikeAFullDisk) {
  // Far above what a driver writes to its cache of kernels, below the eigenvectors' 2 MB.
  write_picture("large.png", 200, 150);
  const std::set<std::string> before = files();
  expect_error(segment("large.png --eigenvectors vectors", {.file_size_limit = 1'500'000}), 3,
               {"eigenvectors.npy", "ulimit"});
  EXPECT_EQ(files(), before);
}

TEST_F(CliOutput, DevicesAsFilesAreWrittenNotReplaced) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  expect_done(segment("a.png --json /dev/null"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  expect_error(segment("a.png --json /dev/full"), 3, {"/dev/full", "disk is full"});
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST_F(CliOutput, AnImageIsNeverOverwritten) {
  write_picture("b.png");
  const std::string bytes = read("b.png");
  fs::create_symlink("b.png", path("link.png"));
  expect_error(segment("b.png -o link.png"), 2, {"link.png", "overwritten"});
  make_folder("photos/out");
  write_picture("photos/out/b.png");
  expect_error(segment("a.png photos/out/b.png -o photos/out"), 2, {"overwritten"});
  EXPECT_EQ(read("b.png"), bytes);
}

TEST_F(CliOutput, LabelsAreWrittenWhenTheSolverDoesNotConverge) {
  write_picture("large.png", 48, 40);  // Smaller ones are solved densely.
  const Result result =
      segment("large.png -o x.png --spectral full --set eigen.max_products=3 --quiet");
  expect_error(result, 5, {"large.png", "did not converge", "--tolerance"});
  expect_labels(read_picture("x.png"));
}

TEST_F(CliOutput, SkipExistingLooksAtEveryResult) {
  const std::string labels = "a.png -o x.png --skip-existing";
  expect_done(segment(labels));
  write("x.png", "kept");
  const Result again = expect_done(segment(labels));
  EXPECT_THAT(again.err, HasSubstr("skipped"));
  EXPECT_EQ(read("x.png"), "kept");
  // The overlay is missing, so there is work to do.
  expect_done(segment("a.png -o x.png --overlay over.png --skip-existing"));
  expect_labels(read_picture("x.png"));
  EXPECT_TRUE(exists("over.png"));
}

}  // namespace
}  // namespace diacut::testing
