// Contours of a picture in tiles: the bytes of the whole picture's.
#include <filesystem>

#include "matchers.hpp"
#include "tiles_test.hpp"

namespace diacut::testing {
namespace {

class CliTileMaps : public CliTiles {
 protected:
  /// Options for labels and contours, NAME.tif and NAME-c.EXTENSION.
  static std::string results(const std::string& input, const std::string& name,
                             const std::string& extension, const std::string& more = "") {
    return fmt::format("{0} -o {1}.tif --contours {1}-c{2} {3}", input, name, extension, more);
  }
  void expect_same_maps(const std::string& a, const std::string& b, const std::string& extension,
                        const std::string& what) const {
    EXPECT_TRUE(read(a + "-c" + extension) == read(b + "-c" + extension)) << what;
    EXPECT_TRUE(labels(a + ".tif") == labels(b + ".tif")) << what;
  }
  /// Of a picture whole and in tiles of several sizes.
  void expect_maps_of_the_whole(const std::string& input, const std::string& extension,
                                const std::string& wanted = "") const {
    expect_done(whole(results(input, "whole", extension, wanted)));
    std::string first;
    for (const char* size : {"16", "50", "500"}) {
      const std::string more = fmt::format("{} --tile-size {}", wanted, size);
      expect_done(tiled(results(input, "tiled", extension, more)));
      expect_same_maps("tiled", "whole", extension, input + " in tiles of " + size);
      if (first.empty()) first = read("tiled.tif");
      EXPECT_TRUE(read("tiled.tif") == first) << size;
    }
  }
};

TEST_F(CliTileMaps, AreThoseOfTheWholePictureToTheLastByte) {
  write_picture("a.png", drawing(131, 97));
  expect_maps_of_the_whole("a.png", ".tif");
  expect_maps_of_the_whole("a.png", ".tif", "--threshold 0.1 --min-size 1");
  expect_maps_of_the_whole("a.png", ".tiff", "--cog --min-size 400");
}

TEST_F(CliTileMaps, OfASceneWithIslandsHaveItsCoordinates) {
  write_scene(path("scene.tif"), islands(90, 75, 3));
  expect_maps_of_the_whole("scene.tif", ".tif");
  const ReadScene source = read_scene(path("scene.tif"));
  for (const char* name : {"tiled.tif", "tiled-c.tif"}) {
    const ReadScene result = read_scene(path(name));
    EXPECT_EQ(result.projection, source.projection);
    EXPECT_EQ(result.transform, source.transform);
    EXPECT_EQ(result.type, std::string(name) == "tiled.tif" ? "UInt32" : "Float32");
    EXPECT_EQ(result.block_width, 256);
  }
  EXPECT_EQ(read_scene(path("tiled.tif")).no_data, 0);
  expect_maps_of_the_whole("scene.tif", ".tif", "--cog");
  EXPECT_EQ(read_scene(path("tiled.tif")).layout, "COG");
}

TEST_F(CliTileMaps, OfThinAndOfFlatPictures) {
  for (const auto& [width, height] : {std::pair(1, 70), std::pair(70, 1), std::pair(1, 1)}) {
    write_picture("thin.png", drawing(width, height));
    expect_maps_of_the_whole("thin.png", ".tif");
  }
  write_picture("flat.png", cv::Mat(50, 60, CV_8UC3, cv::Scalar(9, 99, 199)));
  expect_maps_of_the_whole("flat.png", ".tif", "--min-size 1");
  EXPECT_THAT(labels("tiled-c.tif"), Each(0));
  EXPECT_THAT(labels("tiled.tif"), Each(1));
}

TEST_F(CliTileMaps, ByANetwork) {
  write_picture("a.png", drawing(70, 45));
  expect_done(
      segment(results("a.png", "whole", ".tif",
                      "--weights fast --detail native --merging strength --spectral never")));
  expect_done(segment(results("a.png", "tiled", ".tif", "--weights fast --tile-size 32")));
  expect_same_maps("tiled", "whole", ".tif", "a network");
}

TEST_F(CliTileMaps, PaintedAgain) {
  write_picture("a.png", drawing(100, 90));
  expect_done(tiled(results("a.png", "out", ".tif", "--tile-size 40 --tiles-in work --plan-only")));
  steps(4);
  expect_done(step("paint"));
  expect_done(whole(results("a.png", "whole", ".tif")));
  expect_same_maps("out", "whole", ".tif", "painted");
  // What is gone is made anew.
  std::filesystem::remove(path("out-c.tif"));
  expect_done(step("paint"));
  expect_same_maps("out", "whole", ".tif", "painted again");
  std::string damaged = read("work/leaves-4.bin");
  damaged[damaged.size() - 6] = static_cast<char>(damaged[damaged.size() - 6] ^ 5);
  write("work/leaves-4.bin", damaged);
  std::filesystem::remove(path("out.tif"));
  expect_error(step("paint"), 3, {"leaves-4.bin", "checksum"});
}

TEST_F(CliTileMaps, OfAKilledRun) {
  write_picture("a.png", drawing(100, 90));
  run_killed(results("a.png", "out", ".tif"), 1,
             {"work/map-3.bin", "work/leaves-3.bin", "work/joined-regions.bin", "out-c.tif"});
  expect_done(whole(results("a.png", "whole", ".tif")));
  expect_same_maps("out", "whole", ".tif", "a killed run");
}

TEST_F(CliTileMaps, AreRefusedWhereTheyCannotBe) {
  write_picture("a.png", drawing(100, 90));
  const auto refuse = [&](const std::string& more, int code, const std::vector<std::string>& told) {
    expect_error(tiled("a.png -q -o out.tif --tiles-in work --tile-size 40 " + more), code, told);
  };
  refuse("--contours c.jpg", 2, {"c.jpg", ".tif"});
  refuse("--contours c.npy", 2, {"c.npy", ".tif"});
  refuse("--contours -", 2, {"--contours", "name a file"});
  refuse("--ultrametric u.tif", 2, {"--ultrametric", "--tile-size"});
  refuse("--contours out.tif", 2, {"out.tif"});
  refuse("--contours none/c.tif", 3, {"none/c.tif"});
  EXPECT_FALSE(exists("work/plan.json"));
  // A plan without contours has thrown away what they are made of.
  expect_done(tiled("a.png -o out.tif --tiles-in work --tile-size 40"));
  refuse("--contours c.tif", 3, {"plan.json", "another run"});
  expect_error(whole("a.png -q -o x.tif --contours c.jpg"), 2, {"c.jpg", ".tif, .png, .npy"});
}

}  // namespace
}  // namespace diacut::testing
