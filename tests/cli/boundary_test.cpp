// --boundary, --weights and --boundary-map.
#include "cli_test.hpp"
#include "diacut/image.hpp"
#include "matchers.hpp"
#include "network_file.hpp"
#include "output/npy.hpp"

namespace diacut::testing {
namespace {

class CliBoundary : public CliTest {
 protected:
  /// Writes a network of one convolution, which is quick to compile.
  void write_network(const std::string& name) const {
    NetworkFile file(1);
    file.conv("logit", "image", 3, 1, {.relu = false});
    file.sigmoid("logit");
    file.write(path(name));
  }

  /// A map with one strong line down the middle.
  static cv::Mat line(int type, double strength, int width = kWidth, int height = kHeight) {
    cv::Mat map = cv::Mat::zeros(height, width, type);
    map.col(width / 2).setTo(strength);
    return map;
  }

  /// The labels of a flat picture that a boundary map divides in two.
  cv::Mat parts_by(const std::string& map) {
    write_picture("flat.png", cv::Mat(kHeight, kWidth, CV_8UC3, cv::Scalar(90, 90, 90)));
    expect_done(
        segment(fmt::format("flat.png --boundary-map {} -o l.png --regions 2 --min-size 0", map)));
    return read_picture("l.png");
  }
};

TEST_F(CliBoundary, AMapOfEveryFormatTakesTheNetworksPlace) {
  write_picture("8.png", line(CV_8U, 255));
  write_picture("16.png", line(CV_16U, 65535));
  write_picture("float.tif", line(CV_32F, 1));
  const cv::Mat map = line(CV_32F, 1);
  const std::vector<std::uint8_t> npy = encode_npy<float>(
      {map.ptr<float>(), map.total()}, {static_cast<std::size_t>(kHeight), kWidth});
  write("float.npy", std::string(npy.begin(), npy.end()));
  const cv::Mat first = parts_by("8.png");
  // Each side of the line is one region; pixels of the line may be in either.
  EXPECT_EQ(first.at<std::uint16_t>(0, 0), 1);
  EXPECT_EQ(first.at<std::uint16_t>(kHeight - 1, kWidth - 1), 2);
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      if (x == kWidth / 2) continue;
      ASSERT_EQ(first.at<std::uint16_t>(y, x), x < kWidth / 2 ? 1 : 2) << x << ", " << y;
    }
  }
  for (const char* other : {"16.png", "float.tif", "float.npy"}) {
    EXPECT_EQ(cv::countNonZero(parts_by(other) != first), 0) << other;
  }
}

TEST_F(CliBoundary, MapsThatDoNotFitAreTold) {
  write_picture("a.png");
  write_picture("small.png", line(CV_8U, 255, kWidth - 1));
  write_picture("colour.png");
  write_picture("beyond.tif", line(CV_32F, 1.5));
  const std::vector<float> values(kWidth * kHeight, -0.5f);
  const std::vector<std::uint8_t> npy =
      encode_npy<float>(values, {static_cast<std::size_t>(kHeight), kWidth});
  write("negative.npy", std::string(npy.begin(), npy.end()));
  const auto refused = [&](const std::string& map, const std::vector<std::string>& told) {
    expect_error(segment(fmt::format("a.png --boundary-map {} -o l.png", map)), 3, told);
    EXPECT_FALSE(exists("l.png"));
  };
  refused("small.png", {"15x12", "16x12", "same size"});
  refused("colour.png", {"colour.png", "colours"});
  refused("beyond.tif", {"beyond.tif", "1.5"});
  refused("negative.npy", {"negative.npy", "-0.5"});
  refused("none.png", {"--boundary-map", "none.png"});
}

TEST_F(CliBoundary, AFolderOfMapsMirrorsThePhotographs) {
  make_folder("photos/sub");
  write_picture("photos/a.png");
  write_picture("photos/sub/b.png");
  write_picture("photos/c.png");
  make_folder("maps/sub");
  write_picture("maps/a.png", line(CV_8U, 255));
  write_picture("maps/sub/b.tif", line(CV_32F, 1));
  const Result result = segment("photos --boundary-map maps -o out");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("photos/c.png"));
  EXPECT_THAT(result.err, HasSubstr("maps/c"));
  EXPECT_THAT(result.err, HasSubstr("2 done, 0 skipped, 1 failed"));
  expect_labels(read_picture("out/a.png"));
  expect_labels(read_picture("out/sub/b.png"));
  write_picture("maps/a.tif", line(CV_32F, 1));
  expect_error(segment("photos --boundary-map maps -o out"), 2, {"maps/a.png", "maps/a.tif"});
}

TEST_F(CliBoundary, FormerNamesOfOptionsAreTaken) {
  write_picture("a.png");
  write_picture("map.png", line(CV_8U, 255));
  for (const auto& [former, name] :
       {std::pair("--cue gradient --graph old.csv", "--boundary gradient --region-graph new.csv"),
        std::pair("--edges=map.png --graph=old.csv",
                  "--boundary-map map.png --region-graph new.csv")}) {
    expect_done(segment(fmt::format("a.png -o old.png --regions 3 {}", former)));
    expect_done(segment(fmt::format("a.png -o new.png --regions 3 {}", name)));
    EXPECT_EQ(read("old.png"), read("new.png")) << former;
    EXPECT_EQ(read("old.csv"), read("new.csv")) << former;
  }
}

TEST_F(CliBoundary, LearnedRunsTheNetworkInAFile) {
  write_picture("a.png");
  write_network("net.safetensors");
  expect_done(segment("a.png --boundary learned --weights net.safetensors -o l.png"));
  expect_labels(read_picture("l.png"));
  expect_done(segment(
      "a.png --boundary learned --weights net.safetensors --set boundary.scales=0.5,1,2 -o m.png"));
  expect_labels(read_picture("m.png"));
}

TEST_F(CliBoundary, ADamagedNetworkIsTold) {
  write_picture("a.png");
  write_network("net.safetensors");
  const std::string whole = read("net.safetensors");
  write("cut.safetensors", whole.substr(0, whole.size() - 5));
  expect_error(segment("a.png --boundary learned --weights cut.safetensors -o l.png"), 3,
               {"cut.safetensors", "truncated", "--weights"});
  EXPECT_FALSE(exists("l.png"));
}

TEST_F(CliBoundary, NetworksThatDoNotGoTogetherAreRefusedBeforeTheFirstImage) {
  make_folder("in");
  for (const char* name : {"in/a.png", "in/b.png", "in/c.png"}) write_picture(name);
  const Result result = segment("in -o out --weights default,nuclei");
  EXPECT_EQ(result.exit_code, 2);
  const std::string told = "'default,nuclei'";
  const std::size_t first = result.err.find(told);
  ASSERT_NE(first, std::string::npos) << result.err;
  EXPECT_EQ(result.err.find(told, first + 1), std::string::npos) << result.err;
  EXPECT_THAT(result.err, ::testing::Not(HasSubstr("a.png")));
}

}  // namespace
}  // namespace diacut::testing
