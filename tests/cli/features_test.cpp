// --features.
#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "cli_test.hpp"
#include "output/npy.hpp"

namespace diacut::testing {
namespace {

using Json = nlohmann::json;

class CliFeatures : public CliTest {
 protected:
  /// Two channels that tell the left half from the right, with a little noise.
  static std::vector<float> halves(int width = kWidth, int height = kHeight) {
    std::vector<float> values;
    unsigned state = 3;
    for (int i = 0; i < width * height; ++i) {
      for (const bool own : {i % width < width / 2, i % width >= width / 2}) {
        state = state * 1664525U + 1013904223U;
        values.push_back((own ? 1.0f : 0.0f) + 0.02f * static_cast<float>(state % 1000) / 1000.0f);
      }
    }
    return values;
  }

  void write_features(const std::string& name, const std::vector<float>& values,
                      const std::vector<std::size_t>& shape = {std::size_t{kHeight},
                                                               std::size_t{kWidth}, 2}) const {
    const std::vector<std::uint8_t> npy = encode_npy<float>(values, shape);
    write(name, std::string(npy.begin(), npy.end()));
  }

  void write_flat(const std::string& name) const {
    write_picture(name, cv::Mat(kHeight, kWidth, CV_8UC3, cv::Scalar(90, 90, 90)));
  }

  void expect_halves(const std::string& name) const {
    const cv::Mat labels = read_picture(name);
    for (int y = 0; y < kHeight; ++y) {
      for (int x = 0; x < kWidth; ++x) {
        if (std::abs(x - kWidth / 2) <= 1) continue;
        ASSERT_EQ(labels.at<std::uint16_t>(y, x), x < kWidth / 2 ? 1 : 2) << x << ", " << y;
      }
    }
  }

  void expect_refused(const std::string& name, const std::vector<std::string>& told) const {
    expect_error(segment(fmt::format("a.png --features {} -o l.png", name)), 3, told);
    EXPECT_FALSE(exists("l.png"));
  }
};

TEST_F(CliFeatures, DivideAPictureOfOneColour) {
  write_flat("a.png");
  write_features("x.npy", halves());
  for (const char* method : {"hierarchy", "kway"}) {
    expect_done(
        segment(fmt::format("a.png --features x.npy -o l.png --json r.json --regions 2 --min-size "
                            "0 --vectors 4 --method {}",
                            method)));
    expect_halves("l.png");
  }
  const Json report = Json::parse(read("r.json"));
  EXPECT_EQ(report["features"]["measure"], "cosine");
  EXPECT_EQ(report["features"]["automatic_scale"], true);
  EXPECT_GT(report["features"]["scale"], 0);
  expect_done(
      segment("a.png --features x.npy -o l.png --json r.json --regions 2 --min-size 0 --set "
              "affinity.feature_measure=gaussian --set affinity.feature_scale=0.4 --set "
              "affinity.strides=1,2 --set affinity.radius=3"));
  expect_halves("l.png");
  const Json given = Json::parse(read("r.json"));
  EXPECT_EQ(given["features"]["measure"], "gaussian");
  EXPECT_EQ(given["features"]["scale"], 0.4);
  EXPECT_EQ(given["parameters"]["affinity"]["strides"], "1,2");
}

TEST_F(CliFeatures, ComeFromAFolderOfTheImagesNames) {
  make_folder("photos/in");
  make_folder("own/in");
  write_flat("photos/in/a.png");
  write_flat("photos/b.png");
  write_features("own/in/a.npy", halves());
  write_features("own/b.npy", halves());
  expect_done(segment("photos --features own -o out --regions 2 --min-size 0 --vectors 4"));
  expect_halves("out/in/a.png");
  expect_halves("out/b.png");
  std::filesystem::remove(path("own/b.npy"));
  expect_error(segment("photos --features own -o other --regions 2 --min-size 0 --vectors 4"), 3,
               {"--features", "own/b", ".npy"});
  expect_error(segment("photos --features own/in/a.npy -o out"), 2, {"--features", "not a folder"});
}

TEST_F(CliFeatures, BadOnesAreTold) {
  write_flat("a.png");
  write_features("turned.npy", halves(), {kWidth, kHeight, 2});
  expect_refused("turned.npy", {"12x16", "16x12", "height x width"});
  std::vector<float> bad = halves();
  bad[37] = std::numeric_limits<float>::quiet_NaN();
  write_features("nan.npy", bad);
  expect_refused("nan.npy", {"nan.npy", "nan", "column 2", "row 1", "channel 1"});
  expect_refused("missing.npy", {"--features", "missing.npy"});
}

TEST_F(CliFeatures, AreUsedByEigenvectorsAlone) {
  write_flat("a.png");
  write_features("x.npy", halves());
  expect_error(segment("a.png --features x.npy -o l.png --spectral never"), 2,
               {"contour.spectral is never", "features alone"});
  expect_done(segment(
      "a.png --features x.npy -o l.png --boundary gradient --set affinity.with_boundary=true "
      "--regions 2 --min-size 0"));
  expect_halves("l.png");
}

}  // namespace
}  // namespace diacut::testing
