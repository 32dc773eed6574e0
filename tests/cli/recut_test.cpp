#include <algorithm>
#include <cmath>

#include "cli_test.hpp"
#include "diacut/hierarchy.hpp"
#include "diacut/output.hpp"
#include "matchers.hpp"
#include "region/tree/hierarchy.hpp"

namespace diacut::testing {
namespace {

class CliRecut : public CliTest {
 protected:
  /// a.tree: four upright regions of 4 x 12 pixels, which part at 0.25, 0.75 and 0.5.
  CliRecut() {
    std::vector<float> strength(kWidth * kHeight, 0.0F);
    for (int y = 0; y < kHeight; ++y) {
      strength[static_cast<std::size_t>(y * kWidth + 4)] = 0.25F;
      strength[static_cast<std::size_t>(y * kWidth + 8)] = 0.75F;
      strength[static_cast<std::size_t>(y * kWidth + 12)] = 0.5F;
    }
    RegionParameters parameters;
    parameters.threshold = 0.5;
    tree_ = hierarchy(strength, {}, {}, kWidth, kHeight, parameters);
    write_tree(path("a.tree"), tree_);
  }

  Result recut(const std::string& line, Surroundings around = kNoDevice) const {
    return segment("recut " + line, std::move(around));
  }

  void expect_written(const std::string& name, const Labels& labels) const {
    const cv::Mat read = read_picture(name);
    expect_labels(read);
    ASSERT_EQ(read.size(), cv::Size(labels.width, labels.height));
    for (int y = 0; y < labels.height; ++y) {
      for (int x = 0; x < labels.width; ++x) {
        ASSERT_EQ(read.at<std::uint16_t>(y, x),
                  labels.values[static_cast<std::size_t>(y * labels.width + x)])
            << "at " << x << ", " << y;
      }
    }
  }

  Hierarchy tree_;
};

TEST_F(CliRecut, PolygonsNeedTheCoordinatesOfAScene) {
  write_picture("photo.png");
  for (const char* name : {"x.gpkg", "x.geojson", "x.shp"}) {
    expect_error(recut(fmt::format("a.tree -o {} --image photo.png", name)), 2,
                 {name, "'photo.png'", "coordinates", "--coco"});
  }
  expect_error(recut("a.tree -o x.gpkg --image none.png"), 3, {"none.png"});
}

TEST_F(CliRecut, AnyCutWithoutADevice) {
  write_picture("photo.png");
  // A run that needs a device fails here:
  EXPECT_EQ(segment("photo.png -o x.png", kNoDevice).exit_code, 4);
  std::vector<std::string> notes;
  expect_done(recut("a.tree --regions 3 -o three.png"));
  expect_written("three.png", cut_to_count(tree_, 3, notes));
  expect_done(recut("--threshold 0.2 a.tree -o four.png"));
  expect_written("four.png", tree_.leaves);
  expect_done(recut("a.tree --threshold 0.25 -o again.png"));
  EXPECT_EQ(read("again.png"), read("three.png"));
  expect_done(recut("a.tree --auto -o two.png"));
  expect_written("two.png", cut(tree_, 0.5));
  const Result result = expect_done(recut("a.tree -o default.png"));
  EXPECT_EQ(read("default.png"), read("two.png"));
  EXPECT_THAT(result.out, IsEmpty());
  EXPECT_THAT(result.err, HasSubstr("a.tree: 2 regions"));
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  EXPECT_LT(result.seconds, 2);
}

TEST_F(CliRecut, EveryResultAtOnce) {
  write_picture("photo.png");
  expect_done(recut("a.tree -o x.npy --overlay over.jpg --image photo.png --ultrametric map.png"));
  EXPECT_THAT(files(), UnorderedElementsAre("a.tree", "photo.png", "x.npy", "over.jpg", "map.png"));
  EXPECT_EQ(read_picture("over.jpg").size(), cv::Size(kWidth, kHeight));
  const cv::Mat map = read_picture("map.png");
  ASSERT_EQ(map.type(), CV_16UC1);
  ASSERT_EQ(map.size(), cv::Size(2 * kWidth + 1, 2 * kHeight + 1));
  double most = 0;
  cv::minMaxLoc(map, nullptr, &most);
  EXPECT_EQ(most, std::lround(0.75 * 65535));
}

TEST_F(CliRecut, ARunsOwnTreeGivesItsLabelsAgain) {
  write_picture("photo.png");
  expect_done(
      segment("photo.png --boundary gradient -o run.png --tree run.tree --ultrametric run.npy "
              "--threshold 0.4"));
  expect_done(recut("run.tree -o auto.png"));
  EXPECT_EQ(read("auto.png"), read("run.png"));
  // The picture has two halves with a strong boundary between them.
  EXPECT_EQ(cut(read_tree(path("run.tree")), 0.4).count, 2);
  expect_done(recut("run.tree --ultrametric again.npy"));
  EXPECT_EQ(read("again.npy"), read("run.npy"));
  expect_done(segment("photo.png --boundary gradient --ultrametric run.tif -o x.tif --cog"));
  expect_done(recut("run.tree --ultrametric again.tif -o x.tif --cog"));
  EXPECT_EQ(read("again.tif"), read("run.tif"));
  expect_done(segment("photo.png --boundary gradient -o three.png --regions 3"));
  expect_done(recut("run.tree --regions 3 -o recut.png"));
  EXPECT_EQ(read("recut.png"), read("three.png"));
}

TEST_F(CliRecut, AnyBoundaryMapMakesATree) {
  write_picture("photo.png");
  cv::Mat edges(kHeight, kWidth, CV_8UC1, cv::Scalar(0));
  edges.col(4).setTo(51);
  edges.col(9).setTo(204);
  write_picture("edges.png", edges);
  expect_done(segment(
      "photo.png --boundary-map edges.png --method hierarchy --tree edges.tree --contours c.png "
      "--ultrametric u.png --set region.direction=0 --set contour.boundary_weight=1 --set "
      "contour.spectral_weight=0"));
  const Hierarchy tree = read_tree(path("edges.tree"));
  ASSERT_EQ(tree.merges.size(), 2u);
  EXPECT_FLOAT_EQ(tree.merges[0].height, 0.2F);
  EXPECT_FLOAT_EQ(tree.merges[1].height, 0.8F);
  // With no weight on the eigenvectors, boundary strength is the map.
  cv::Mat deep;
  edges.convertTo(deep, CV_16U, 257);
  const cv::Mat contours = read_picture("c.png");
  ASSERT_EQ(contours.type(), CV_16UC1);
  EXPECT_EQ(cv::norm(contours, deep, cv::NORM_INF), 0);
  EXPECT_EQ(read_picture("u.png").size(), cv::Size(2 * kWidth + 1, 2 * kHeight + 1));
}

TEST_F(CliRecut, AsAFilter) {
  expect_done(recut("a.tree --regions 2 -o x.png"));
  Surroundings around = kNoDevice;
  around.input = read("a.tree");
  const Result result = expect_done(recut("- --regions 2 -o - --quiet", around));
  EXPECT_EQ(result.out, read("x.png"));
  EXPECT_THAT(result.err, IsEmpty());
}

TEST_F(CliRecut, MoreRegionsThanLeavesIsANote) {
  const Result result = expect_done(recut("a.tree --regions 9 -o x.png"));
  EXPECT_THAT(result.err, HasSubstr("segment: note: a.tree: 9 regions were asked for"));
  expect_written("x.png", tree_.leaves);
}

TEST_F(CliRecut, LeavesOutSmallRegions) {
  // Each of the four leaves has at least 36 of the 192 pixels, and the smallest has fewer than 49.
  expect_done(recut("a.tree --threshold 0 --min-size 49 -o x.png"));
  expect_written("x.png", cut(without_small_regions(tree_, 49), 0));
  expect_done(recut("a.tree --threshold 0 --min-size 18% -o x.png"));
  expect_written("x.png", tree_.leaves);
  const Result few = expect_done(recut("a.tree --regions 4 --min-size 30% -o x.png"));
  EXPECT_THAT(few.err, HasSubstr("4 regions were asked for, but there are"));
}

TEST_F(CliRecut, BySeedsOfTwoLabels) {
  cv::Mat seeds = cv::Mat::zeros(kHeight, kWidth, CV_8U);
  seeds.at<std::uint8_t>(3, 1) = 7;
  seeds.at<std::uint8_t>(4, 9) = 2;
  write_picture("seeds.png", seeds);
  const Result result = expect_done(recut("a.tree --seeds seeds.png -o labels.png"));
  const cv::Mat labels = read_picture("labels.png");
  for (int x = 0; x < kWidth; ++x) EXPECT_EQ(labels.at<std::uint16_t>(5, x), x <= 8 ? 7 : 2) << x;
  seeds.at<std::uint8_t>(4, 5) = 9;
  seeds.at<std::uint8_t>(4, 9) = 0;
  write_picture("left.png", seeds);
  const Result left = recut("a.tree --seeds left.png -o labels.png");
  EXPECT_EQ(left.exit_code, 0);
  EXPECT_THAT(left.err, HasSubstr("1 of 3 regions hold no seed"));
  EXPECT_EQ(read_picture("labels.png").at<std::uint16_t>(5, 12), 0);

  write_picture("small.png", cv::Mat::zeros(kHeight, kWidth - 1, CV_8U));
  expect_error(recut("a.tree --seeds small.png -o x.png"), 3, {"15x12", "16x12"});
}

TEST_F(CliRecut, TreesThatAreNoneEndWithThree) {
  const std::string good = read("a.tree");
  std::string flipped = good;
  flipped[good.size() / 2] = static_cast<char>(flipped[good.size() / 2] ^ 4);
  write("flipped.tree", flipped);
  write_picture("wide.png", kWidth + 1, kHeight);
  make_folder("folder");
  const std::set<std::string> before = files();
  const std::vector<std::pair<std::string, std::vector<std::string>>> cases = {
      {"none.tree -o x.png", {"none.tree", "cannot be opened"}},
      {"flipped.tree -o x.png", {"flipped.tree", "checksum"}},
      {"folder -o out", {"no tree", "folder", ".tree"}},
      {"a.tree -o none/x.png", {"none"}},
      {"a.tree --overlay x.png --image wide.png", {"wide.png", "17 x 12", "16 x 12"}},
      {"a.tree --overlay x.png --image none.png", {"none.png"}}};
  for (const auto& [line, told] : cases) {
    SCOPED_TRACE(line);
    expect_error(recut(line), 3, told);
    EXPECT_EQ(files(), before);
  }
}

}  // namespace
}  // namespace diacut::testing
