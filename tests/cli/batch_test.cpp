#include <sys/stat.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "cli_test.hpp"
#include "matchers.hpp"
#include "temp_folder.hpp"

namespace diacut::testing {
namespace {

namespace fs = std::filesystem;

class CliBatch : public CliTest {
 protected:
  /// Files under `folder`, relative to it.
  std::set<std::string> files_in(const std::string& folder) const {
    std::set<std::string> names;
    for (const std::string& name : files()) {
      if (name.rfind(folder + "/", 0) == 0) names.insert(name.substr(folder.size() + 1));
    }
    return names;
  }
};

TEST_F(CliBatch, MirrorsTheTree) {
  write_pictures({"photos/top.jpg", "photos/a/b.jpg", "photos/a/deep/er/c.PNG", "photos/z.tiff"});
  const Result result = expect_done(
      segment("photos -o out/labels --overlay out/overlays --eigenvectors out/vectors"));
  EXPECT_THAT(files_in("out/labels"),
              UnorderedElementsAre("top.png", "a/b.png", "a/deep/er/c.png", "z.png"));
  EXPECT_EQ(files_in("out/overlays"), files_in("out/labels"));
  EXPECT_TRUE(exists("out/vectors/a/deep/er/c/eigenvectors.npy"));
  EXPECT_TRUE(exists("out/vectors/top/montage.png"));
  EXPECT_THAT(result.err, HasSubstr("4 done, 0 skipped, 0 failed"));
  EXPECT_THAT(result.err, HasSubstr("out/labels"));
  expect_labels(read_picture("out/labels/a/b.png"));
}

TEST_F(CliBatch, VerifiedResultsAreTheSame) {
  write_pictures({"photos/a.png", "photos/b.png"});
  expect_done(segment("photos --spectral full -o once --tree once/trees"));
  expect_done(segment("photos --spectral full -o twice --tree twice/trees --verify"));
  for (const char* name : {"/a.png", "/b.png", "/trees/a.tree", "/trees/b.tree"}) {
    EXPECT_EQ(testing::read_bytes(path(std::string("twice") + name)),
              testing::read_bytes(path(std::string("once") + name)))
        << name;
  }
}

TEST_F(CliBatch, ABadFileDoesNotStopTheOthers) {
  write_pictures({"photos/a.png", "photos/c.png"});
  write("photos/b.png", "no picture");
  const Result result = segment("photos -o out");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(files_in("out"), UnorderedElementsAre("a.png", "c.png"));
  EXPECT_THAT(result.err, HasSubstr("2 done, 0 skipped, 1 failed"));
  EXPECT_THAT(result.err, HasSubstr("segment: error: "));
  // The error is told once.
  const std::size_t first = result.err.find("photos/b.png");
  ASSERT_NE(first, std::string::npos) << result.err;
  EXPECT_EQ(result.err.find("segment: error: ", first), std::string::npos) << result.err;

  // --quiet shows the error and nothing else.
  expect_error(segment("photos -o out --quiet"), 3, {"photos/b.png"});
}

TEST_F(CliBatch, EndsWithTheWorstOfItsImages) {
  write_pictures({"photos/a.png"});
  write_picture("photos/tiny.png", 1, 1);
  const Result two = segment("photos -o out --regions 2");
  EXPECT_EQ(two.exit_code, 2);
  write("photos/bad.png", "");
  const Result three = segment("photos -o out --regions 2");
  EXPECT_EQ(three.exit_code, 3);
  EXPECT_THAT(three.err, HasSubstr("1 done, 0 skipped, 2 failed"));
}

TEST_F(CliBatch, TakesImagesByExtensionAndNothingHiddenOrLinked) {
  write_pictures({"photos/a.png", "photos/.hidden.png", "photos/.git/b.png", "outside/c.png"});
  write("photos/notes.txt", "no picture");
  write("photos/.hidden.txt", "no picture");
  fs::create_directory_symlink(".", path("photos/loop"));
  fs::create_directory_symlink("../outside", path("photos/elsewhere"));
  fs::create_symlink("../outside/c.png", path("photos/linked.png"));
  ASSERT_EQ(mkfifo(path("photos/pipe.png").c_str(), 0600), 0);
  const Result result = expect_done(segment("photos -o out", {.limit_seconds = 60}));
  EXPECT_FALSE(result.timed_out);
  EXPECT_THAT(files_in("out"), UnorderedElementsAre("a.png", "linked.png"));
  EXPECT_THAT(result.err, HasSubstr("2 done, 0 skipped, 0 failed"));
  EXPECT_THAT(result.err, HasSubstr("7 other files left out"));
}

TEST_F(CliBatch, ABrokenLinkIsAFailedImage) {
  write_pictures({"photos/a.png"});
  fs::create_symlink("nowhere.png", path("photos/b.png"));
  fs::create_symlink("c.png", path("photos/c.png"));
  const Result result = segment("photos -o out");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("1 done, 0 skipped, 2 failed"));
}

TEST_F(CliBatch, DoesNotReadItsOwnResults) {
  write_pictures({"photos/a.png", "photos/b.png"});
  for (int time = 0; time < 2; ++time) {
    const Result result = expect_done(
        segment("photos -o photos/labels --overlay photos/overlays --eigenvectors photos/vectors"));
    EXPECT_THAT(result.err, HasSubstr("2 done"));
  }
  EXPECT_THAT(files_in("photos/labels"), UnorderedElementsAre("a.png", "b.png"));
}

TEST_F(CliBatch, BesideTheFolderByDefault) {
  write_pictures({"photos/a.png"});
  expect_done(segment("photos/"));
  EXPECT_TRUE(exists("photos-labels/a.png"));
  expect_done(segment(".", {.folder = path("photos-labels")}));
  EXPECT_TRUE(exists("photos-labels-labels/a.png"));
}

TEST_F(CliBatch, SeveralInputs) {
  write_pictures({"x.png", "one/a.png", "two/deep/a.png"});
  const Result result =
      segment("x.png one two/ ./x.png - missing.png -o out", {.input = read("x.png")});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(files_in("out"),
              UnorderedElementsAre("x.png", "one/a.png", "two/deep/a.png", "stdin.png"));
  EXPECT_THAT(result.err, HasSubstr("4 done, 0 skipped, 1 failed"));
  EXPECT_THAT(result.err, HasSubstr("missing.png"));
  expect_error(segment("one/a.png two/deep/a.png -o out"), 2, {"one/a.png", "two/deep/a.png"});
}

TEST_F(CliBatch, AFolderWithoutImages) {
  make_folder("empty");
  write("empty/notes.txt", "no picture");
  expect_error(segment("empty -o out"), 3, {"no image", "empty"});
  EXPECT_FALSE(exists("out"));
}

TEST_F(CliBatch, JsonIsALineAnImage) {
  write_pictures({"photos/a.png", "photos/c.png"});
  write("photos/b.png", "no picture");
  const Result first = segment("photos -o out --json -");
  EXPECT_EQ(first.exit_code, 3);
  const std::vector<nlohmann::json> lines = json_lines(first.out);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0].at("input"), "photos/a.png");
  EXPECT_GE(lines[0].at("regions").at("count"), 1);
  EXPECT_EQ(lines[1].at("input"), "photos/b.png");
  EXPECT_EQ(lines[1].at("exit_code"), 3);
  EXPECT_THAT(lines[1].at("error").get<std::string>(), HasSubstr("photos/b.png"));
  EXPECT_EQ(lines[2].at("input"), "photos/c.png");

  const Result second = segment("photos -o out --skip-existing --json report.jsonl");
  EXPECT_EQ(second.exit_code, 3);
  const std::vector<nlohmann::json> again = json_lines(read("report.jsonl"));
  ASSERT_EQ(again.size(), 3u);
  EXPECT_EQ(again[0].at("skipped"), true);
}

TEST_F(CliBatch, AReportThatCannotBeWrittenEndsTheRun) {
  write_pictures({"photos/a.png", "photos/b.png", "photos/c.png"});
  const Result result = segment("photos -o out --json -", {.out = Out::kFull});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("standard output"));
  EXPECT_THAT(result.err, HasSubstr("2 not tried"));
}

TEST_F(CliBatch, NoDeviceIsToldOnce) {
  write_pictures({"photos/a.png", "photos/b.png", "photos/c.png"});
  expect_error(segment("photos -o out --quiet", kNoDevice), 4, {"OpenCL"});
  EXPECT_TRUE(files_in("out").empty());
}

TEST_F(CliBatch, AnImageGivesWhatItGivesAlone) {
  write_pictures({"photos/a.png", "photos/d.jpg", "photos/f.png"});
  write_picture("photos/b.png", cv::Mat(kHeight, kWidth, CV_8UC1, cv::Scalar(99)));
  write("photos/c.png", "no picture");
  write_picture("photos/e.png", 2 * kWidth, kHeight / 2);
  const std::vector<std::string> outputs = {"-o",     "--overlay",     "--eigenvectors",
                                            "--tree", "--ultrametric", "--contours"};
  const auto command = [&](const std::string& input, const std::string& folder,
                           const std::string& name) {
    std::string line = input;
    for (const std::string& output : outputs) {
      line += fmt::format(" {} {}/{}", output, folder, output.substr(1));
      if (name.empty()) continue;
      line += "/" + name;
      if (output != "--eigenvectors") line += output == "--tree" ? ".tree" : ".png";
    }
    return line;
  };
  EXPECT_EQ(segment(command("photos", "all", "")).exit_code, 3);
  for (const char* name : {"a.png", "b.png", "d.jpg", "e.png", "f.png"}) {
    const std::string stem = std::string(name).substr(0, 1);
    for (const std::string& output : outputs) make_folder("alone/" + output.substr(1));
    expect_done(segment(command(std::string("photos/") + name, "alone", stem)));
  }
  EXPECT_EQ(files_in("alone"), files_in("all"));
  for (const std::string& file : files_in("alone")) {
    EXPECT_EQ(read("alone/" + file), read("all/" + file)) << file;
  }
  EXPECT_GE(files_in("alone").size(), 5 * outputs.size());
}

TEST_F(CliBatch, TellsOfImagesInTheirOrder) {
  write_pictures({"photos/a.png", "photos/b.png", "photos/d.png", "photos/e.png"});
  write("photos/c.png", "no picture");
  make_folder("out");
  expect_done(segment("photos/d.png -o out/d.png"));
  const Result result = segment("photos -o out --verbose --skip-existing --json -");
  EXPECT_EQ(result.exit_code, 3);
  std::vector<std::string> told;
  std::istringstream lines(result.err);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find("photos/");
    if (at != std::string::npos) told.push_back(line.substr(at + 7, 1));
  }
  // Errors are told at the end of the run.
  EXPECT_THAT(told, ::testing::ElementsAre("a", "b", "d", "e", "c"));
  std::vector<std::string> reported;
  for (const nlohmann::json& line : json_lines(result.out)) {
    reported.push_back(line.at("input").get<std::string>().substr(7, 1));
  }
  EXPECT_THAT(reported, ::testing::ElementsAre("a", "b", "c", "d", "e"));
}

}  // namespace
}  // namespace diacut::testing
