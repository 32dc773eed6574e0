// --merging, and diacut-bench pairs.
#include <random>

#include "cli_test.hpp"
#include "matchers.hpp"

namespace diacut::testing {
namespace {

class CliMerging : public CliTest {
 protected:
  static constexpr int kSide = 48;

  /// A picture of coloured squares with noise, and a boundary map of the squares' rims with
  /// strengths that say little.
  void SetUp() override {
    CliTest::SetUp();
    cv::Mat picture(kSide, kSide, CV_8UC3);
    cv::Mat map(kSide, kSide, CV_8U);
    std::mt19937 random(4);
    for (int y = 0; y < kSide; ++y) {
      for (int x = 0; x < kSide; ++x) {
        const int square = x / 12 + y / 12;
        const auto noise = [&] { return static_cast<int>(random() % 20); };
        picture.at<cv::Vec3b>(y, x) = cv::Vec3b(static_cast<uchar>(square * 67 % 200 + noise()),
                                                static_cast<uchar>(square * 131 % 200 + noise()),
                                                static_cast<uchar>(square * 31 % 200 + noise()));
        const bool rim = x % 12 == 0 || y % 12 == 0;
        map.at<uchar>(y, x) = static_cast<uchar>((rim ? 60 : 0) + noise());
      }
    }
    write_picture("a.png", picture);
    write_picture("map.png", map);
  }

  std::string tree(const std::string& options) {
    expect_done(segment("a.png --tree a.tree " + options));
    return read("a.tree");
  }
};

TEST_F(CliMerging, OfAUsersMapAndOfTheGradientIsByStrengthUnlessAskedFor) {
  for (const std::string boundaries : {"--boundary-map map.png", "--boundary gradient"}) {
    const std::string by_default = tree(boundaries);
    EXPECT_EQ(by_default, tree(boundaries + " --merging auto"));
    EXPECT_EQ(by_default, tree(boundaries + " --merging strength"));
    EXPECT_NE(by_default, tree(boundaries + " --merging learned"));
  }
}

TEST_F(CliMerging, OfANetworksMapIsLearned) {
  const std::string by_default = tree("--weights fast");
  EXPECT_EQ(by_default, tree("--weights fast --merging learned"));
  EXPECT_NE(by_default, tree("--weights fast --merging strength"));
}

TEST_F(CliMerging, WeightsForAnEmbeddingNeedANetworkThatHasOne) {
  const std::string with = DIACUT_SOURCE_DIR "/configs/merging-embedding.json";
  const std::string without = DIACUT_SOURCE_DIR "/configs/merging.json";
  const std::string by_default = tree("");
  EXPECT_EQ(by_default, tree("--set region.merging_weights=" + with));
  EXPECT_NE(by_default, tree("--set region.merging_weights=" + without));
  const std::string alone = "--spectral never ";
  EXPECT_EQ(tree(alone), tree(alone + "--set region.merging_weights=" + with));
  for (const std::string boundaries :
       {"--set boundary.pose=canonical", "--boundary-map map.png --merging learned"}) {
    expect_error(segment("a.png -o l.png " + boundaries + " --set region.merging_weights=" + with),
                 2, {"embedding", "--weights default"});
    EXPECT_FALSE(exists("l.png"));
  }
}

TEST_F(CliMerging, TakesWeightsOfAFile) {
  write("weights.json",
        R"({"format": "diacut-merging", "version": 1, "threshold": 0.125,
            "colour": {"bias": 0, "terms": [{"feature": "area_smaller", "weight": 1, "mean": 0,
                                             "deviation": 1}]},
            "grey": {"bias": 0, "terms": []}})");
  const std::string learned = "--boundary-map map.png --merging learned";
  const std::string own = learned + " --set region.merging_weights=weights.json";
  EXPECT_NE(tree(own), tree(learned));
  tree(own);
  const Result shown = expect_done(segment("recut a.tree -o l.png -v"));
  EXPECT_THAT(shown.err, HasSubstr("automatic threshold 0.125"));
  write("weights.json", "{}");
  expect_error(segment("a.png -o l2.png " + own), 2, {"weights.json", "fit_merging.py"});
}

}  // namespace
}  // namespace diacut::testing
