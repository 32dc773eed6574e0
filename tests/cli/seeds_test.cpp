// Labels that grow from seeds.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <opencv2/imgproc.hpp>

#include "cli_test.hpp"
#include "matchers.hpp"

namespace diacut::testing {
namespace {

using Json = nlohmann::json;

class CliSeeds : public CliTest {
 protected:
  /// Grows labels by the gradient, which needs no network.
  Result grow(const std::string& line) const { return segment(line + " --boundary gradient"); }
};

/// What a report says of the iterations of a walk.
int iterations_of(const std::string& report) {
  return Json::parse(report)["walk"]["iterations"].get<int>();
}

TEST_F(CliSeeds, AddedLaterStartFromTheLastAnswer) {
  // At the picture's own size, and where labels are found in a reduction of it.
  for (const int scale : {1, 60}) {
    write_picture("a.png", kWidth * scale, kHeight * scale);
    cv::Mat seeds = cv::Mat::zeros(kHeight * scale, kWidth * scale, CV_8U);
    seeds(cv::Rect(scale, 2 * scale, scale, scale)) = 3;
    seeds(cv::Rect(13 * scale, 9 * scale, scale, scale)) = 7;
    write_picture("seeds.png", seeds);
    expect_done(grow("a.png --seeds seeds.png --probabilities p.npy -o x.png"));
    seeds(cv::Rect(14 * scale, 8 * scale, scale, scale)) = 7;
    write_picture("more.png", seeds);
    expect_done(grow("a.png --seeds more.png -o anew.png --json anew.json"));
    expect_done(
        grow("a.png --seeds more.png --start-from p.npy -o started.png --json started.json"));
    EXPECT_LT(iterations_of(read("started.json")), iterations_of(read("anew.json"))) << scale;
    const cv::Mat anew = read_picture("anew.png");
    EXPECT_LE(cv::countNonZero(anew != read_picture("started.png")), anew.total() / 1000) << scale;
  }
}

TEST_F(CliSeeds, WrongProbabilitiesToStartFromAreRefused) {
  write_picture("a.png");
  cv::Mat seeds = cv::Mat::zeros(kHeight, kWidth, CV_8U);
  seeds.at<std::uint8_t>(5, 2) = 7;
  seeds.at<std::uint8_t>(6, kWidth - 3) = 3;
  write_picture("seeds.png", seeds);
  expect_done(grow("a.png --seeds seeds.png --probabilities p.npy -o x.png"));
  std::string bytes = read("p.npy");
  const float nan = std::nanf("");
  std::copy_n(reinterpret_cast<const char*>(&nan), sizeof nan, bytes.end() - sizeof nan);
  write("nan.npy", bytes);
  const std::string line = "a.png --seeds seeds.png -o y.png --start-from ";
  expect_error(grow(line + "nan.npy"), 3, {"nan.npy", "column 15, row 11", "[0, 1]"});
  expect_error(grow(line + "none.npy"), 3, {"--start-from", "none.npy"});
  EXPECT_FALSE(exists("y.png"));
}

TEST_F(CliSeeds, DoNotCrossBarriers) {
  // In the picture itself, and where regions are found in a reduction of it.
  for (const int scale : {1, 60}) {
    const int width = kWidth * scale;
    const int height = kHeight * scale;
    write_picture("a.png", cv::Mat(height, width, CV_8U, cv::Scalar(90)));
    cv::Mat seeds = cv::Mat::zeros(height, width, CV_8U);
    seeds(cv::Rect(scale, 2 * scale, scale, scale)) = 1;
    seeds(cv::Rect(13 * scale, 9 * scale, scale, scale)) = 2;
    write_picture("seeds.png", seeds);
    cv::Mat lines = cv::Mat::zeros(height, width, CV_8U);
    cv::line(lines, {width / 2, 0}, {width / 5, height - 1}, cv::Scalar(255), 1, cv::LINE_8);
    write_picture("lines.png", lines);
    expect_done(
        grow("a.png --seeds seeds.png --barriers lines.png -o labels.png --probabilities p.npy"));
    const cv::Mat labels = read_picture("labels.png");
    for (int y = 0; y < height; ++y) {
      bool passed = false;
      for (int x = 0; x < width; ++x) {
        const bool on = lines.at<std::uint8_t>(y, x) != 0;
        passed = passed || on;
        const int label = labels.at<std::uint16_t>(y, x);
        if (on) {
          ASSERT_TRUE(label == 1 || label == 2) << x << ", " << y;
        } else {
          // The one pixel by which a corner is closed may have either label.
          const bool beside = x + 1 < width && lines.at<std::uint8_t>(y, x + 1) != 0;
          const bool after = x > 0 && lines.at<std::uint8_t>(y, x - 1) != 0;
          ASSERT_TRUE(label == (passed ? 2 : 1) || beside || after) << x << ", " << y;
        }
      }
    }
  }
  write_picture("lines.png", cv::Mat(kHeight, kWidth, CV_8U, cv::Scalar(1)));
  expect_error(grow("a.png --seeds seeds.png --barriers lines.png -o x.png"), 3,
               {"barriers", "16x12", "960x720"});
}

}  // namespace
}  // namespace diacut::testing
