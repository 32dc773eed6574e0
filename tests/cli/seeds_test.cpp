// Labels that grow from seeds.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <opencv2/imgproc.hpp>

#include "cli_test.hpp"
#include "map_files.hpp"
#include "matchers.hpp"

namespace diacut::testing {
namespace {

using Json = nlohmann::json;

class CliSeeds : public CliTest {
 protected:
  static cv::Mat no_seeds() { return cv::Mat::zeros(kHeight, kWidth, CV_8U); }

  /// Label 7 in the left half of a picture of write_picture(), 3 in the right.
  static cv::Mat two_seeds() {
    cv::Mat seeds = no_seeds();
    seeds.at<std::uint8_t>(5, 2) = 7;
    seeds.at<std::uint8_t>(6, kWidth - 3) = 3;
    return seeds;
  }

  /// Grows labels by the gradient, which needs no network.
  Result grow(const std::string& line) const { return segment(line + " --boundary gradient"); }
};

TEST_F(CliSeeds, GrowToTheBoundaryAndKeepTheirNumbers) {
  write_picture("a.png");
  write_picture("seeds.png", two_seeds());
  const Result result =
      expect_done(grow("a.png --seeds seeds.png -o labels.png --json report.json"));
  const cv::Mat labels = read_picture("labels.png");
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      ASSERT_EQ(labels.at<std::uint16_t>(y, x), x < kWidth / 2 ? 7 : 3) << x << ", " << y;
    }
  }
  const Json report = Json::parse(read("report.json"));
  EXPECT_EQ(report["walk"]["labels"], 2);
  EXPECT_EQ(report["walk"]["converged"], true);
  EXPECT_EQ(report["parameters"]["region"]["method"], "walker");
  EXPECT_FALSE(report.contains("eigen"));
}

TEST_F(CliSeeds, PolygonsOfASceneHaveTheirNumbers) {
  SceneFile scene;
  scene.width = kWidth;
  scene.height = kHeight;
  scene.type = "UInt16";
  scene.value = [](int, int x, int y) {
    return (x < kWidth / 2 ? 400 : 2400) + (x * 7 + y * 5) % 11;
  };
  write_scene(path("scene.tif"), scene);
  write_picture("seeds.png", two_seeds());
  expect_done(grow("scene.tif --seeds seeds.png -o regions.geojson"));
  std::set<int> numbers;
  const Json regions = Json::parse(read("regions.geojson"));
  for (const Json& feature : regions["features"]) {
    EXPECT_EQ(feature["properties"]["pixels"], kWidth * kHeight / 2);
    numbers.insert(feature["properties"]["label"].get<int>());
  }
  EXPECT_THAT(numbers, UnorderedElementsAre(3, 7));
}

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

TEST_F(CliSeeds, AFolderOfProbabilitiesToStartFrom) {
  for (const char* folder : {"photos", "seeds", "p"}) make_folder(folder);
  for (const char* name : {"one", "two"}) {
    write_picture(std::string("photos/") + name + ".png");
    write_picture(std::string("seeds/") + name + ".png", two_seeds());
  }
  expect_done(grow("photos --seeds seeds --probabilities p -o labels"));
  expect_done(grow("photos --seeds seeds --start-from p -o again --json r.jsonl"));
  EXPECT_EQ(read("labels/two.png"), read("again/two.png"));
  EXPECT_EQ(read("labels/one.png"), read("labels/two.png"));
  EXPECT_EQ(read_picture("labels/one.png").at<std::uint16_t>(0, 0), 7);
  std::istringstream lines(read("r.jsonl"));
  int images = 0;
  for (std::string line; std::getline(lines, line); ++images) EXPECT_EQ(iterations_of(line), 0);
  EXPECT_EQ(images, 2);
  expect_error(grow("photos --seeds seeds/one.png -o labels"), 2,
               {"--seeds", "seeds/one.png", "folder"});
}

TEST_F(CliSeeds, WrongProbabilitiesToStartFromAreRefused) {
  write_picture("a.png");
  write_picture("seeds.png", two_seeds());
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

TEST_F(CliSeeds, SeedsOfALargerPictureAreKeptInIt) {
  constexpr int kScale = 60;
  write_picture("a.png", kWidth * kScale, kHeight * kScale);
  cv::Mat seeds = cv::Mat::zeros(kHeight * kScale, kWidth * kScale, CV_8U);
  seeds(cv::Rect(100, 200, 9, 9)) = 1;
  seeds(cv::Rect(800, 500, 9, 9)) = 2;
  seeds.at<std::uint8_t>(350, 700) = 1;  // On its own in the other half.
  write_picture("seeds.png", seeds);
  expect_done(grow("a.png --seeds seeds.png -o labels.png"));
  const cv::Mat labels = read_picture("labels.png");
  ASSERT_EQ(labels.size(), seeds.size());
  for (int y = 0; y < seeds.rows; ++y) {
    for (int x = 0; x < seeds.cols; ++x) {
      const int seed = seeds.at<std::uint8_t>(y, x);
      if (seed != 0) {
        ASSERT_EQ(labels.at<std::uint16_t>(y, x), seed) << x << ", " << y;
      }
    }
  }
  EXPECT_EQ(labels.at<std::uint16_t>(20, 20), 1);
  EXPECT_EQ(labels.at<std::uint16_t>(700, 940), 2);
}

TEST_F(CliSeeds, ColoursThatSomebodyPaintedAreLabels) {
  write_picture("a.png");
  cv::Mat marks(kHeight, kWidth, CV_8UC3, cv::Scalar(255, 255, 255));
  marks.at<cv::Vec3b>(5, 2) = {0, 0, 255};
  marks.at<cv::Vec3b>(5, 13) = {255, 0, 0};
  write_picture("marks.png", marks);
  const Result result = expect_done(grow("a.png --seeds marks.png -o labels.png"));
  EXPECT_THAT(result.err, HasSubstr("#0000ff is 1, #ff0000 is 2; #ffffff is no seed"));
  const cv::Mat labels = read_picture("labels.png");
  EXPECT_EQ(labels.at<std::uint16_t>(5, 0), 2);
  EXPECT_EQ(labels.at<std::uint16_t>(5, 15), 1);
}

TEST_F(CliSeeds, MarksCorrectTheRegionsThatTheyTouch) {
  write_picture("a.png");
  cv::Mat labels(kHeight, kWidth, CV_16U, cv::Scalar(3));
  labels.rowRange(6, kHeight) = 8;
  write_picture("labels.png", labels);
  cv::Mat marks = no_seeds();
  marks.at<std::uint8_t>(2, 1) = 3;
  marks.at<std::uint8_t>(2, 14) = 5;
  write_picture("split.png", marks);
  expect_done(grow("a.png --seeds split.png --correct labels.png -o s.png"));
  const cv::Mat split = read_picture("s.png");
  EXPECT_EQ(split.at<std::uint16_t>(0, 0), 3);
  EXPECT_EQ(split.at<std::uint16_t>(0, 15), 5);
  EXPECT_EQ(cv::countNonZero(split.rowRange(6, kHeight) != 8), 0);
  // Marks of one number join what they touch, and need no second one.
  marks = no_seeds();
  marks.at<std::uint8_t>(2, 1) = 3;
  marks.at<std::uint8_t>(9, 1) = 3;
  write_picture("join.png", marks);
  expect_done(grow("a.png --seeds join.png --correct labels.png -o j.png"));
  EXPECT_EQ(cv::countNonZero(read_picture("j.png") != 3), 0);
  write_picture("small.png", cv::Mat(4, 5, CV_16U, cv::Scalar(1)));
  expect_error(grow("a.png --seeds join.png --correct small.png -o x.png"), 3,
               {"small.png", "5 x 4", "16 x 12"});
}

TEST_F(CliSeeds, WrongSeedsAreRefused) {
  write_picture("a.png");
  cv::Mat large = cv::Mat::zeros(kHeight, kWidth, CV_32F);
  large.at<float>(5, 2) = 70000;
  write_picture("large.tif", large);
  expect_error(grow("a.png --seeds large.tif -o x.png"), 3, {"large.tif", "70000", "65535"});
  expect_error(grow("a.png --seeds none.png -o x.png"), 3, {"--seeds", "none.png"});
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

TEST_F(CliSeeds, WhatIsBehindBarriersHasNoLabel) {
  write_picture("a.png", cv::Mat(kHeight, kWidth, CV_8U, cv::Scalar(90)));
  write_picture("seeds.png", two_seeds());
  write("lines.geojson", R"({"type":"Feature","properties":{},"geometry":{"type":"Polygon",
    "coordinates":[[[6,2],[11,2],[11,8],[6,8],[6,2]]]}})");
  const Result result = grow("a.png --seeds seeds.png --barriers lines.geojson -o labels.png");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("20 pixels cannot be reached"));
  const cv::Mat labels = read_picture("labels.png");
  EXPECT_EQ(labels.at<std::uint16_t>(5, 8), 0);
  EXPECT_NE(labels.at<std::uint16_t>(5, 6), 0);  // On the barrier.
}

TEST_F(CliSeeds, OfGeoJson) {
  write_picture("a.png");
  const auto feature = [](const std::string& label, const std::string& geometry) {
    return R"({"type":"Feature","properties":{"label":)" + label + R"(},"geometry":)" + geometry +
           "}";
  };
  const std::string left = feature("7", R"({"type":"Point","coordinates":[2.5,5.5]})");
  const std::string right =
      feature("3", R"({"type":"MultiLineString","coordinates":[[[13,2],[13,9]],[[14,1],[15,1]]]})");
  const auto collection = [](const std::string& features) {
    return R"({"type":"FeatureCollection","features":[)" + features + "]}";
  };
  write("seeds.geojson", collection(left + "," + right));
  expect_done(grow("a.png --seeds seeds.geojson -o labels.png"));
  const cv::Mat labels = read_picture("labels.png");
  EXPECT_EQ(labels.at<std::uint16_t>(0, 0), 7);
  EXPECT_EQ(labels.at<std::uint16_t>(11, 15), 3);

  const auto refuse = [&](const std::string& text, const std::vector<std::string>& parts) {
    write("wrong.geojson", text);
    expect_error(grow("a.png --seeds wrong.geojson -o x.png"), 3, parts);
  };
  refuse(collection(feature("0", R"({"type":"Point","coordinates":[2,5]})")), {"label 0"});
  refuse(collection(feature("1.5", R"({"type":"Point","coordinates":[2,5]})")), {"1.5"});
  refuse(collection(R"({"type":"Feature","geometry":null})"), {"properties"});
  refuse(collection(left), {"one label"});
  refuse(R"({"type":"Topology"})", {"wrong.geojson", "Topology"});
}

TEST_F(CliSeeds, PolygonsOfGeoJsonMarkTheirRegions) {
  cv::Mat regions = no_seeds();
  regions(cv::Rect(0, 0, 7, kHeight)) = 1;
  regions(cv::Rect(7, 0, kWidth - 7, kHeight)) = 2;
  regions(cv::Rect(2, 3, 3, 4)) = 3;
  write_picture("a.png");
  write_picture("whole.png", regions);
  expect_done(grow("a.png --seeds whole.png --geojson regions.geojson"));
  expect_done(grow("a.png --seeds regions.geojson -o labels.png"));
  const cv::Mat labels = read_picture("labels.png");
  // Regions are numbered in scan order.
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      const int region = regions.at<std::uint8_t>(y, x);
      ASSERT_EQ(labels.at<std::uint16_t>(y, x), region) << x << ", " << y;
    }
  }
}

TEST_F(CliSeeds, CutAHierarchy) {
  write_picture("a.png");
  write_picture("seeds.png", two_seeds());
  expect_done(grow(
      "a.png --seeds seeds.png --method hierarchy -o labels.png --tree a.tree --json report.json"));
  const cv::Mat labels = read_picture("labels.png");
  EXPECT_EQ(labels.at<std::uint16_t>(5, 2), 7);
  EXPECT_EQ(labels.at<std::uint16_t>(6, kWidth - 3), 3);
  expect_done(segment("recut a.tree --seeds seeds.png -o again.png"));
  EXPECT_EQ(read("again.png"), read("labels.png"));
  EXPECT_FALSE(Json::parse(read("report.json")).contains("walk"));
}

TEST_F(CliSeeds, WrongSeedsCutNoHierarchy) {
  cv::Mat picture(kHeight, kWidth, CV_8UC4, cv::Scalar(20, 120, 220, 255));
  picture(cv::Rect(kWidth / 2, 0, kWidth / 2, kHeight)) = cv::Scalar(200, 30, 20, 255);
  picture(cv::Rect(0, 0, 4, 4)) = cv::Scalar(0, 0, 0, 0);
  write_picture("a.png", picture);
  write_picture("seeds.png", two_seeds());
  expect_done(segment("a.png --boundary gradient -o x.png --tree a.tree"));
  std::filesystem::remove(path("x.png"));
  const auto refuse = [&](const std::string& seeds, const std::vector<std::string>& parts) {
    expect_error(segment(fmt::format("recut a.tree --seeds {} -o x.png", seeds)), 3, parts);
    std::vector<std::string> named = parts;
    named.emplace_back("a.png");
    expect_error(grow(fmt::format("a.png --method hierarchy --seeds {} -o x.png", seeds)), 3,
                 named);
    EXPECT_FALSE(exists("x.png"));
  };
  const auto points = [](const std::string& first, const std::string& label,
                         const std::string& second) {
    const auto point = [](const std::string& number, const std::string& place) {
      return R"({"type":"Feature","properties":{"label":)" + number +
             R"(},"geometry":{"type":"Point","coordinates":)" + place + "}}";
    };
    return R"({"type":"FeatureCollection","features":[)" + point("1", first) + "," +
           point(label, second) + "]}";
  };
  write("outside.geojson", points("[5,5]", "2", "[9,12.5]"));
  refuse("outside.geojson", {"outside.geojson", "feature 2", "(9, 12.5)", "16x12"});
  write("twice.geojson", points("[5,5]", "2", "[5.5,5.5]"));
  refuse("twice.geojson", {"twice.geojson", "column 5, row 5", "1 and 2"});
  write("one.geojson", points("[5,5]", "1", "[9,9]"));
  refuse("one.geojson", {"one label", "at least two"});
  write("no_data.geojson", points("[1,2]", "2", "[9,9]"));
  refuse("no_data.geojson", {"column 1, row 2", "no data"});
  write_picture("none.png", no_seeds());
  refuse("none.png", {"no labels", "at least two"});
  write_picture("large.png", cv::Mat::zeros(kHeight, kWidth + 1, CV_8U));
  refuse("large.png", {"17x12", "16x12"});
}

}  // namespace
}  // namespace diacut::testing
