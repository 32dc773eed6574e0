// --page all: every page of a file is an image, and the labels are the pages of one TIFF.
#include <nlohmann/json.hpp>
#include <opencv2/imgcodecs.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "cli_test.hpp"

namespace diacut::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class CliStack : public CliTest {
 protected:
  /// A page whose left part of `split` columns is dark.
  static cv::Mat page(int width, int height, int split) {
    cv::Mat pixels(height, width, CV_8U, cv::Scalar(220));
    pixels.colRange(0, split).setTo(30);
    return pixels;
  }

  void write_stack(const std::string& name, const std::vector<cv::Mat>& pages) const {
    ASSERT_TRUE(cv::imwritemulti(path(name), pages));
  }

  std::vector<cv::Mat> read_stack(const std::string& name) const {
    std::vector<cv::Mat> pages;
    EXPECT_TRUE(cv::imreadmulti(path(name), pages, cv::IMREAD_UNCHANGED)) << name;
    return pages;
  }

  static void expect_equal(const cv::Mat& labels, const cv::Mat& expected) {
    cv::Mat as_integers;
    expected.convertTo(as_integers, CV_32S);
    ASSERT_EQ(labels.type(), CV_32SC1);
    ASSERT_EQ(labels.size(), expected.size());
    EXPECT_EQ(cv::countNonZero(labels != as_integers), 0);
  }
};

TEST_F(CliStack, LabelsOfAllPagesAreThePagesOfOneFile) {
  const std::vector<cv::Mat> pages = {page(16, 12, 5), page(16, 12, 11), page(20, 9, 8)};
  write_stack("stack.tif", pages);
  const Result result =
      segment({"stack.tif", "--page", "all", "-o", "labels.tif", "--overlay", "overlays",
               "--regions", "2", "--json", "report.jsonl", "--coco", "regions.json"});
  expect_done(result);
  EXPECT_THAT(result.err, HasSubstr("3 done, 0 skipped, 0 failed"));
  EXPECT_THAT(result.err, HasSubstr("labels in 'labels.tif'"));
  EXPECT_THAT(result.err, Not(HasSubstr("the first was read")));
  const std::vector<cv::Mat> labels = read_stack("labels.tif");
  ASSERT_EQ(labels.size(), pages.size());
  for (std::size_t k = 0; k < pages.size(); ++k) {
    const std::string number = std::to_string(k + 1);
    EXPECT_TRUE(exists("overlays/stack-" + number + ".png"));
    expect_done(segment({"stack.tif", "--page", number, "-o", "one.png", "--regions", "2"}));
    expect_equal(labels[k], read_picture("one.png"));
  }
  std::istringstream lines(read("report.jsonl"));
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto report = nlohmann::json::parse(line);
    EXPECT_EQ(report["input"], "stack.tif");
    EXPECT_EQ(report["page"], ++number);
  }
  EXPECT_EQ(number, 3);
  const auto coco = nlohmann::json::parse(read("regions.json"));
  ASSERT_EQ(coco["images"].size(), 3U);
  EXPECT_EQ(coco["images"][2]["file_name"], "stack-3.tif");
}

TEST_F(CliStack, AFolderGivesAStackForEachStack) {
  write_stack("many.tif", {page(16, 12, 5), page(16, 12, 11)});
  write("in.txt", "");
  ASSERT_EQ(std::system(
                ("mkdir " + path("in") + " && mv " + path("many.tif") + " " + path("in")).c_str()),
            0);
  write_picture("in/one.png");
  expect_done(segment({"in", "--page", "all", "-o", "out"}));
  EXPECT_EQ(read_stack("out/many.tif").size(), 2U);
  EXPECT_TRUE(exists("out/one.png"));
  // Nothing is left to do, and nothing is done again.
  const std::string before = read("out/many.tif");
  const Result again = segment({"in", "--page", "all", "-o", "out", "--skip-existing"});
  expect_done(again);
  EXPECT_THAT(again.err, HasSubstr("0 done, 3 skipped, 0 failed"));
  EXPECT_EQ(read("out/many.tif"), before);
}

TEST_F(CliStack, LabelsGoBesideTheFileByDefault) {
  write("two.pgm", "P2 4 1 9 5 5 5 5\nP2 4 1 9 0 0 9 9\n");
  expect_done(segment({"two.pgm", "--page", "all", "--cue", "gradient"}));
  EXPECT_EQ(read_stack("two-labels.tif").size(), 2U);
  write_picture("single.png");
  expect_done(segment({"single.png", "--page", "all"}));
  EXPECT_EQ(read_stack("single-labels.tif").size(), 1U);
}

TEST_F(CliStack, AFailedPageLeavesNoFileOfLabels) {
  // The second page has more pixels than are read.
  write_stack("two.tif", {page(16, 12, 5), page(30, 12, 11)});
  const Result result = segment({"two.tif", "--page", "all", "-o", "labels.tif", "--set",
                                 "image.max_pixels=200", "--json", "-"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("1 done, 0 skipped, 1 failed"));
  EXPECT_THAT(result.err, HasSubstr("'labels.tif' is not written"));
  EXPECT_THAT(result.out, HasSubstr("\"page\":2"));
  EXPECT_FALSE(exists("labels.tif"));
}

TEST_F(CliStack, WhatMakesNoSenseIsRefused) {
  write_stack("stack.tif", {page(16, 12, 5), page(16, 12, 11)});
  const auto before = files();
  expect_error(segment({"stack.tif", "--page", "all", "-o", "labels.png"}), 2,
               {"labels.png", ".tif"});
  expect_error(segment({"stack.tif", "--page", "all", "-o", "stack.tif"}), 2, {"stack.tif"});
  expect_error(segment({"-", "--page", "all", "-o", "labels.tif"}), 2, {"--page all"});
  expect_error(segment({"stack.tif", "--page", "all", "-o", "-"}), 2, {"-o"});
  expect_error(segment({"stack.tif", "--page", "al", "-o", "labels.tif"}), 2, {"--page"});
  EXPECT_EQ(files(), before);
}

}  // namespace
}  // namespace diacut::testing
