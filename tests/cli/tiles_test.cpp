// One picture in tiles: the labels of the whole picture, however it is cut, stopped and mended.
#include "tiles_test.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>

#include "matchers.hpp"

namespace diacut::testing {
namespace {

TEST_F(CliTiles, LabelsAreThoseOfTheWholePicture) {
  write_picture("a.png", drawing(131, 97));
  for (const char* wanted : {"", "--regions 9", "--threshold 0.1 --min-size 1"}) {
    expect_done(whole(fmt::format("a.png -o whole.tif {}", wanted)));
    for (const char* size : {"16", "50", "500"}) {
      const Result result =
          expect_done(tiled(fmt::format("a.png -o tiled.tif --tile-size {} {}", size, wanted)));
      EXPECT_THAT(result.err, HasSubstr("--merging strength"));
      EXPECT_TRUE(labels("tiled.tif") == labels("whole.tif")) << size;
    }
  }
  EXPECT_FALSE(exists("tiled.tif.tiles"));
}

TEST_F(CliTiles, PlainTiffFilesAreReadByBlocksWithTheValuesOfTheWhole) {
  const cv::Mat colours = drawing(90, 75);
  cv::Mat grey;
  cv::extractChannel(colours, grey, 1);
  cv::Mat of_12_bits;
  grey.convertTo(of_12_bits, CV_16U, 16);
  cv::Mat floats;
  grey.convertTo(floats, CV_32F, 0.1);
  const auto tiled_in_33 = [&](const std::string& name) {
    return tiled(name + " -o tiled.tif --set image.max_pixels=1000 --tile-size 33");
  };
  for (const cv::Mat& picture : {colours, grey, of_12_bits, floats}) {
    write_picture("a.tif", picture);
    expect_done(whole("a.tif -o whole.tif"));
    expect_done(tiled_in_33("a.tif"));
    EXPECT_TRUE(labels("tiled.tif") == labels("whole.tif")) << picture.type();
    EXPECT_EQ(read_scene(path("tiled.tif")).projection, "");
  }
  // Others are read whole.
  write_picture("a.png", colours);
  expect_error(tiled_in_33("a.png"), 3, {"a.png", "image.max_pixels"});
}

TEST_F(CliTiles, InShares) {
  plan();
  for (int k = 0; k < 4; ++k) {
    expect_done(step("tile", "--shard 2/2"));
    expect_error(step("join"), 3, {"5 of 9 tiles", "tile 0", "segment tile"});
    expect_error(step("paint"), 3, {"not joined yet"});
    expect_done(step("tile", "--shard 1/2"));
    EXPECT_THAT(step("tile").err, HasSubstr("0 tiles done"));
    expect_done(step("join"));
  }
  expect_done(step("paint"));
  expect_done(step("paint"));
  EXPECT_THAT(step("tile").err, HasSubstr("all tiles are joined"));
  expect_whole_labels();
  expect_error(step("tile", "--shard 0/2"), 2, {"--shard", "0/2", "3/16"});
}

TEST_F(CliTiles, AKilledRunGoesOn) {
  write_picture("a.png", drawing(100, 90));
  // Several tiles of each step, so that some are done and some are not.
  run_killed("a.png -o out.tif -v", 3,
             {"work/map-", "work/contours-", "work/basins-", "work/regions-"});
  expect_whole_labels();
}

TEST_F(CliTiles, ARunThatWasKilledWhileItRemovedItsFilesIsDone) {
  write_picture("a.png", drawing(100, 90));
  const std::string run = "a.png -o out.tif --tile-size 40 --tiles-in work";
  expect_done(tiled(run));
  const Values found = labels("out.tif");
  for (const auto& each : std::filesystem::directory_iterator(path("work"))) {
    const std::string name = each.path().filename().string();
    if (name != "plan.json" && name != "painted.bin") std::filesystem::remove(each.path());
  }
  const Result again = expect_done(tiled(run));
  EXPECT_THAT(again.err, HasSubstr("regions in tiles of 40 pixels"));
  EXPECT_TRUE(labels("out.tif") == found);
}

TEST_F(CliTiles, WhatATileLeftIsCheckedAndMadeAnewWhenItIsGone) {
  plan();
  expect_done(step("tile"));
  const std::string map = path("work/map-4.bin");
  const std::string bytes = read("work/map-4.bin");
  std::filesystem::resize_file(map, bytes.size() - 9);
  expect_error(step("join"), 3, {"1 of 9 tiles", "tile 4"});
  std::string damaged = bytes;
  damaged[bytes.size() / 2] = static_cast<char>(damaged[bytes.size() / 2] ^ 5);
  write("work/map-4.bin", damaged);
  expect_error(step("join"), 3, {"map-4.bin", "checksum"});
  write("work/map-4.bin", read("work/map-3.bin"));
  expect_error(step("join"), 3, {"1 of 9 tiles", "tile 4"});
  std::filesystem::remove(map);
  expect_error(step("join"), 3, {"1 of 9 tiles", "tile 4"});
  // Of another device: bytes 24 to 31 of the header.
  damaged = bytes;
  damaged[24] = static_cast<char>(damaged[24] ^ 1);
  write("work/map-4.bin", damaged);
  expect_error(step("join"), 3, {"map-4.bin", "another device"});
  // Of another version, and of another plan.
  damaged = bytes;
  damaged[8] = 77;
  write("work/map-4.bin", damaged);
  expect_error(step("join"), 3, {"1 of 9 tiles", "tile 4"});
  damaged = bytes;
  damaged[16] = static_cast<char>(damaged[16] ^ 1);
  write("work/map-4.bin", damaged);
  expect_error(step("join"), 3, {"1 of 9 tiles", "tile 4"});
  expect_done(step("tile"));
  EXPECT_EQ(read("work/map-4.bin"), bytes);
  expect_done(step("join"));
  steps(3);
  expect_done(step("paint"));
  expect_whole_labels();
}

TEST_F(CliTiles, PlansAreChecked) {
  plan();
  write_picture("b.png", drawing(80, 60));
  expect_error(tiled("b.png -q -o out.tif --tile-size 40 --tiles-in work --plan-only"), 3,
               {"plan.json", "another run"});
  const std::string text = read("work/plan.json");
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    write("work/plan.json", changed);
    return step("tile");
  };
  expect_error(with("\"tile_size\": 40", "\"tile_size\": 0"), 3, {"plan.json", "do not fit"});
  expect_error(with("\"width\": 100", "\"width\": 101"), 3, {"a.png", "100 x 90", "101 x 90"});
  expect_error(with("\"source\"", "\"sauce\""), 3, {"plan.json", "source"});
  expect_error(with("\"format\": \"", "\"format\": \"x"), 3, {"plan.json", "no plan"});
  write("work/plan.json", text.substr(0, text.size() / 2));
  expect_error(step("tile"), 3, {"plan.json", "no plan"});
  expect_error(segment("tile work/none.json"), 3, {"none.json", "cannot be read"});
  write("work/plan.json", text);
  std::filesystem::resize_file(path("a.png"), std::filesystem::file_size(path("a.png")) - 1);
  expect_error(step("tile"), 3, {"a.png", "has changed"});
}

TEST_F(CliTiles, TwoRunsInOneFolderAndAFullDisk) {
  plan();
  const int lock = ::open(path("work/lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  ASSERT_EQ(::flock(lock, LOCK_EX | LOCK_NB), 0);
  expect_error(step("tile"), 3, {"work", "another run"});
  ::close(lock);
  steps(1);
  expect_done(step("tile"));
  const std::set<std::string> before = files();
  expect_error(segment("join work/plan.json", {.file_size_limit = 500}), 3, {"rim-0.bin"});
  EXPECT_EQ(files(), before);
  expect_done(step("join"));
  steps(2);
  expect_error(segment("paint work/plan.json", {.file_size_limit = 500}), 3, {"out.tif"});
  EXPECT_FALSE(exists("out.tif"));
  EXPECT_FALSE(exists("out.tif.part.tif"));
  expect_done(step("paint"));
  expect_whole_labels();
}

TEST_F(CliTiles, ABlockThatDoesNotDecodeIsAnError) {
  SceneFile scene;
  scene.width = 96;
  scene.height = 64;
  scene.options = {"TILED=YES", "BLOCKXSIZE=32", "BLOCKYSIZE=32", "COMPRESS=DEFLATE"};
  scene.value = [](int, int x, int y) { return (x / 11 + y / 9) % 4 * 60 + (x * 7 + y * 5) % 11; };
  write_scene(path("scene.tif"), scene);
  std::string bytes = read("scene.tif");
  // The block of the upper left corner begins with zlib's first byte.
  const std::size_t block = bytes.find("\x78\x9c", 8);
  ASSERT_NE(block, std::string::npos);
  for (std::size_t k = 0; k < 40; ++k) bytes[block + k] = '\xEE';
  write("scene.tif", bytes);
  expect_error(tiled("scene.tif -q -o out.tif --tile-size 40"), 3, {"scene.tif", "damaged"});
}

TEST_F(CliTiles, RefuseWhatTilesDoNotHave) {
  write_picture("a.png");
  const auto refuse = [&](const std::string& more, const std::vector<std::string>& told) {
    expect_error(segment("a.png -o out.tif --tile-size 16 " + more), 2, told);
  };
  refuse("--merging learned", {"--merging learned", "strength"});
  refuse("--spectral full", {"--spectral full", "never"});
  refuse("--method kway", {"--method hierarchy"});
  refuse("--set cue.turns=4", {"cue.turns"});
  refuse("--set cue.pose=canonical", {"cue.pose"});
  refuse("--tree a.tree", {"--tree", "--tile-size"});
  refuse("--json a.json", {"--json"});
  refuse("--verify", {"--verify"});
  expect_error(segment("a.png -o out.png --tile-size 16"), 2, {"FILE.tif"});
  expect_error(segment("a.png a.png -o x.tif --tile-size 16"), 2, {"one file"});
  expect_error(segment("a.png -o x.tif --tile-size big"), 2, {"--tile-size", "big"});
  expect_error(segment("a.png -o x.tif --plan-only"), 2, {"--tile-size"});
  EXPECT_THAT(files(), ::testing::UnorderedElementsAre("a.png"));
  expect_error(tiled("a.png -q -o x.tif --tile-size 16 --memory 2K"), 4,
               {"tiles of 16 pixels", "--tile-size"});
}

}  // namespace
}  // namespace diacut::testing
