// --method objects, and the preset nuclei.
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <opencv2/imgproc.hpp>
#include <set>

#include "cli_test.hpp"
#include "diacut/hierarchy.hpp"
#include "diacut/output.hpp"
#include "matchers.hpp"

namespace diacut::testing {
namespace {

using Json = nlohmann::json;

class CliNuclei : public CliTest {
 protected:
  /// Copies the micrograph to a.png, and its nuclei to truth/a.png.
  CliNuclei() {
    const std::filesystem::path from =
        std::filesystem::path(DIACUT_SOURCE_DIR) / "tests/cli/nuclei";
    std::filesystem::copy_file(from / "micrograph.png", path("a.png"));
    make_folder("truth");
    std::filesystem::copy_file(from / "truth.png", path("truth/a.png"));
    make_folder("found");
  }

  /// The scores of found/a.png at an intersection over union of .5.
  Json scores() const {
    expect_done(evaluate("found --truth truth --objects --json scores.json"));
    return Json::parse(read("scores.json"))["objects"]["matches"][0];
  }
};

TEST_F(CliNuclei, AreFoundOneByOne) {
  const Result result =
      expect_done(segment("a.png --config nuclei -o found/a.png --tree a.tree --contours c.png "
                          "--ultrametric u.png --table t.csv --json report.json"));
  // Of 11 nuclei, of which two pairs touch and one is cut off by the border to 72 pixels.
  const Json found = scores();
  EXPECT_EQ(found["truth"], 11);
  EXPECT_GE(found["matched"], 10);
  EXPECT_LE(found["found"], 12);
  const Json report = Json::parse(read("report.json"));
  EXPECT_EQ(report["regions"]["count"], found["found"]);
  const cv::Mat labels = read_picture("found/a.png");
  EXPECT_GT(cv::countNonZero(labels == 0), 128 * 96 / 2);
  // The results of a hierarchy are those of the whole picture.
  const Hierarchy tree = read_tree(path("a.tree"));
  EXPECT_EQ(tree.leaves.width, 128);
  EXPECT_GT(tree.leaves.count, 12);
  const cv::Mat contours = read_picture("c.png");
  EXPECT_EQ(contours.cols, 128);
  // The labels are regions of a cut of the tree.
  expect_done(segment(fmt::format("recut a.tree -o cut.png --min-size 20 --threshold {}",
                                  report["parameters"]["region"]["threshold"].dump())));
  const cv::Mat cut = read_picture("cut.png");
  std::map<int, std::set<int>> regions;
  for (int i = 0; i < labels.rows * labels.cols; ++i) {
    regions[cut.at<std::uint16_t>(i)].insert(labels.at<std::uint16_t>(i));
  }
  EXPECT_GT(regions.size(), found["found"].get<std::size_t>());
  for (const auto& [region, own] : regions) EXPECT_EQ(own.size(), 1u) << region;
}

TEST_F(CliNuclei, AreFoundInAReducedPictureToo) {
  cv::Mat large;
  cv::resize(read_picture("a.png"), large, {}, 4, 4, cv::INTER_CUBIC);
  write_picture("large.png", large);
  expect_done(segment("large.png --config nuclei --detail 160 -o found/large.png"));
  EXPECT_EQ(read_picture("found/large.png").cols, 512);
  cv::Mat small;
  cv::resize(read_picture("found/large.png"), small, {128, 96}, 0, 0, cv::INTER_NEAREST);
  write_picture("found/a.png", small);
  std::filesystem::remove(path("found/large.png"));
  EXPECT_GE(scores()["matched"], 8);
}

}  // namespace
}  // namespace diacut::testing
