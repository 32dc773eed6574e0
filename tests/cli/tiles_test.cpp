// A picture in tiles: the results of the whole picture to the last byte, however it is cut, shared,
// stopped and mended.
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "cli_test.hpp"
#include "map_files.hpp"
#include "matchers.hpp"

namespace diacut::testing {
namespace {

namespace fs = std::filesystem;

/// Discs and stripes with texture, of every colour.
cv::Mat drawing(int width, int height) {
  cv::Mat picture(height, width, CV_8UC3);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const int disc = static_cast<int>(std::hypot(x % 37 - 18, y % 29 - 14)) / 6;
      for (int c = 0; c < 3; ++c) {
        picture.at<cv::Vec3b>(y, x)[c] = static_cast<std::uint8_t>(
            (disc * (40 + 20 * c) + x / 23 * 31 + (x * 7 + y * 13 + x * y * 3) % 17) % 251);
      }
    }
  }
  return picture;
}

/// A scene with islands, and with values that a fourth band does not have.
SceneFile islands(int width, int height, int bands) {
  SceneFile file;
  file.width = width;
  file.height = height;
  file.bands = bands;
  file.type = "UInt16";
  file.no_data = 0;
  file.value = [](int band, int x, int y) {
    const double middle = std::hypot(x - 40, y - 30);
    if ((middle < 17 && middle > 9) || x + y < 20) return 0;
    if (band == 4 && x % 7 == 0) return 0;
    return (x / 17 + y / 13) % 3 * 700 + 100 * band + (x * 7 + y * 5) % 11;
  };
  return file;
}

class CliTiles : public CliTest {
 protected:
  /// By the gradient, without what tiles do not have.
  Result whole(const std::string& line) const {
    return segment(line +
                   " --boundary gradient --detail native --merging strength --spectral never");
  }
  Result tiled(const std::string& line) const { return segment(line + " --boundary gradient"); }
  std::vector<double> labels(const std::string& name) const {
    return read_scene(path(name)).values;
  }

  /// The folders "whole" and "tiled" have the same files. Blocks of labels lie otherwise in tiles.
  void expect_same(const std::string& what) const {
    std::map<std::string, std::string> expected = contents("whole");
    std::map<std::string, std::string> found = contents("tiled");
    EXPECT_FALSE(expected.empty()) << what;
    if (expected.erase("/labels.tif") > 0) {
      EXPECT_EQ(found.erase("/labels.tif"), 1U) << what;
      EXPECT_TRUE(labels("tiled/labels.tif") == labels("whole/labels.tif")) << what;
    }
    EXPECT_TRUE(found == expected) << what;
  }
  void make_folders() const {
    for (const char* folder : {"whole", "tiled"}) {
      fs::remove_all(path(folder));
      make_folder(folder);
    }
  }
  /// Results of an input whole and in tiles of several sizes; {} stands for the folder.
  void expect_those_of_the_whole(const std::string& line) const {
    make_folders();
    expect_done(whole(fmt::format(fmt::runtime(line), "whole")));
    std::map<std::string, std::string> first;
    for (const char* size : {"16", "50", "500"}) {
      const Result result =
          expect_done(tiled(fmt::format(fmt::runtime(line), "tiled") + " --tile-size " + size));
      EXPECT_THAT(result.err, HasSubstr("--merging strength"));
      expect_same(line + " in tiles of " + size);
      if (first.empty()) first = contents("tiled");
      EXPECT_TRUE(contents("tiled") == first) << line << " in tiles of " << size;
    }
  }

  /// Makes the plan of tiles of 40 pixels of a drawing of 100 x 90, in the folder "work".
  void plan() const {
    write_picture("a.png", drawing(100, 90));
    expect_done(tiled("a.png -o out.tif --tile-size 40 --tiles-in work --plan-only"));
  }
  Result step(const std::string& name, const std::string& more = "",
              Surroundings around = {}) const {
    return segment(fmt::format("{} work/plan.json {}", name, more), std::move(around));
  }
  /// Tiles and join, `times` times.
  void steps(int times) const {
    for (int k = 0; k < times; ++k) {
      expect_done(step("tile"));
      expect_done(step("join"));
    }
  }
  void expect_whole_labels() const {
    expect_done(whole("a.png -o whole.tif"));
    EXPECT_TRUE(labels("out.tif") == labels("whole.tif"));
  }
};

/// Results of one run.
struct TiledResults {
  const char* name;
  const char* line;  ///< {} stands for their folder.
  const char* one;   ///< Of the results.
  /// Bytes that do not suffice for a file of the results, and what is told then.
  unsigned long size_limit;
  const char* told;
  /// Files at which the run is killed. Where a name ends with "-", three begin so.
  std::vector<std::string> kills;
};

class CliTiledResults : public CliTiles, public ::testing::WithParamInterface<TiledResults> {
 protected:
  CliTiledResults() {
    write_picture("a.png", drawing(100, 90));
    write_scene(path("scene.tif"), islands(90, 75, 4));
    make_folders();
    expect_done(whole(line("whole")));
  }
  static std::string line(const std::string& folder) {
    return fmt::format(fmt::runtime(GetParam().line), folder);
  }
};

TEST_P(CliTiledResults, OfTwoSharesAtOnceOnAFullDiskAndPaintedAgain) {
  expect_done(tiled(line("tiled") + " -q --tile-size 40 --tiles-in work --plan-only"));
  for (int k = 0; k < 4; ++k) {
    const auto first = start("tile work/plan.json --shard 1/2");
    expect_done(step("tile", "--shard 2/2"));
    expect_done(first->wait());
    expect_done(step("join"));
  }
  expect_error(step("paint", "", {.file_size_limit = GetParam().size_limit}), 3,
               {"tiled/", GetParam().told});
  EXPECT_TRUE(contents("tiled").empty());
  const bool has_shapes = exists("whole/r.shp");
  if (has_shapes) write("tiled/r.sbn", "an index of polygons that are gone");
  expect_done(step("paint"));
  expect_same("two shares");
  EXPECT_FALSE(exists("work/labels.tif"));
  // What is gone is made anew.
  fs::remove(path(std::string("tiled/") + GetParam().one));
  expect_done(step("paint"));
  expect_same("two shares, painted again");
}

TEST_P(CliTiledResults, OfAKilledRun) {
  const std::string run = line("tiled") + " -v --boundary gradient --tile-size 16 --tiles-in work";
  for (const std::string& name : GetParam().kills) {
    const auto process = start(run);
    const std::size_t least = name.ends_with('-') ? 3 : 1;
    const bool met = process->wait_until([&] {
      const std::set<std::string> all = files();
      return least <= static_cast<std::size_t>(std::count_if(
                          all.begin(), all.end(),
                          [&](const std::string& file) { return file.starts_with(name); }));
    });
    EXPECT_TRUE(met || name == "work/labels.tif") << name << ": it is there for a moment";
    process->send(SIGKILL);
    process->wait();
    EXPECT_FALSE(name.ends_with('-') && !contents("tiled").empty());
  }
  expect_done(segment(run));
  expect_same("a killed run");
}

constexpr const char* kOfRasters = "cannot be written";
constexpr const char* kOfPolygons = "larger than the system allows";

INSTANTIATE_TEST_SUITE_P(
    Kinds, CliTiledResults,
    ::testing::Values(
        TiledResults{"Labels",
                     "a.png -o {}/labels.tif",
                     "labels.tif",
                     500,
                     kOfRasters,
                     {"work/map-", "work/contours-", "work/basins-", "work/regions-"}},
        TiledResults{
            "Maps",
            "a.png -o {0}/labels.tif --contours {0}/c.tif",
            "c.tif",
            500,
            kOfRasters,
            {"work/map-3.bin", "work/leaves-3.bin", "work/joined-regions.bin", "tiled/c.tif"}},
        TiledResults{"Polygons",
                     "scene.tif -o {}/r.gpkg --bands 3,2,1",
                     "r.gpkg",
                     2000,
                     kOfPolygons,
                     {"work/map-3.bin", "work/joined-regions.bin", "work/labels.tif"}},
        TiledResults{"GeoJson",
                     "scene.tif -o {}/r.geojson --bands 1",
                     "r.geojson",
                     2000,
                     kOfPolygons,
                     {"work/basins-"}},
        TiledResults{"Shapes",
                     "scene.tif -o {}/r.shp --bands 1",
                     "r.shp",
                     2000,
                     kOfPolygons,
                     {"work/contours-"}},
        TiledResults{"ShapesAndMaps",
                     "scene.tif -o {0}/r.shp --contours {0}/c.tif --bands 3,2,1",
                     "r.shp",
                     500,
                     kOfRasters,
                     {"work/regions-"}}),
    [](const auto& each) { return each.param.name; });

TEST_F(CliTiles, OfSeveralSizesGiveTheResultsOfTheWholePicture) {
  write_picture("a.png", drawing(131, 97));
  for (const std::string wanted : {"", " --regions 9", " --threshold 0.1 --min-size 1"}) {
    expect_those_of_the_whole("a.png -o {}/labels.tif" + wanted);
  }
  const std::string maps = "a.png -o {0}/labels.tif --contours {0}/c.tif";
  expect_those_of_the_whole(maps);
  expect_those_of_the_whole(maps + " --threshold 0.1 --min-size 1");
  expect_those_of_the_whole("a.png -o {0}/labels.tif --contours {0}/c.tiff --cog --min-size 400");
}

TEST_F(CliTiles, OfSeveralSizesGiveThePolygonsOfTheWholeScene) {
  write_scene(path("scene.tif"), islands(90, 75, 4));
  for (const std::string name : {"r.gpkg", "r.geojson", "r.shp"}) {
    expect_those_of_the_whole("scene.tif --bands 3,2,1 -o {}/" + name);
    expect_those_of_the_whole("scene.tif --bands 1 --min-size 1 --threshold 0.05 -o {}/" + name);
    const ReadFeatures found = read_features(path("tiled/" + name));
    EXPECT_GT(found.features.size(), 20U);
    double area = 0;
    for (const ReadFeature& feature : found.features) {
      EXPECT_TRUE(feature.is_valid);
      area += feature.area;
    }
    EXPECT_NEAR(area / found.union_area, 1, 1e-9);
  }
}

TEST_F(CliTiles, OfASceneWithIslandsHaveItsCoordinates) {
  write_scene(path("scene.tif"), islands(90, 75, 3));
  const std::string line = "scene.tif -o {0}/labels.tif --contours {0}/c.tif";
  expect_those_of_the_whole(line);
  const ReadScene source = read_scene(path("scene.tif"));
  for (const char* name : {"tiled/labels.tif", "tiled/c.tif"}) {
    const ReadScene result = read_scene(path(name));
    EXPECT_EQ(result.projection, source.projection);
    EXPECT_EQ(result.transform, source.transform);
    EXPECT_EQ(result.type, std::string(name) == "tiled/labels.tif" ? "UInt32" : "Float32");
    EXPECT_EQ(result.block_width, 256);
  }
  EXPECT_EQ(read_scene(path("tiled/labels.tif")).no_data, 0);
  expect_those_of_the_whole(line + " --cog");
  EXPECT_EQ(read_scene(path("tiled/labels.tif")).layout, "COG");
}

TEST_F(CliTiles, OfThinAndOfFlatPicturesAndWithControlPoints) {
  const std::string maps = "-o {0}/labels.tif --contours {0}/c.tif ";
  for (const auto& [width, height] : {std::pair(1, 70), std::pair(70, 1), std::pair(1, 1)}) {
    write_picture("thin.png", drawing(width, height));
    expect_those_of_the_whole(maps + "thin.png");
    SceneFile file = islands(width, height, 4);
    file.value = [](int band, int x, int y) { return (x + y) / 9 % 2 * 900 + 100 * band; };
    write_scene(path("thin.tif"), file);
    expect_those_of_the_whole("thin.tif -o {}/r.geojson --bands 1 --min-size 1");
  }
  SceneFile file = islands(60, 50, 4);
  file.value = [](int, int, int) { return 900; };
  write_scene(path("flat.tif"), file);
  expect_those_of_the_whole("flat.tif -o {}/r.gpkg --bands 1");
  write_picture("flat.png", cv::Mat(50, 60, CV_8UC3, cv::Scalar(9, 99, 199)));
  expect_those_of_the_whole(maps + "flat.png --min-size 1");
  EXPECT_THAT(labels("tiled/c.tif"), Each(0));
  EXPECT_THAT(labels("tiled/labels.tif"), Each(1));
  file = islands(90, 75, 4);
  file.transform = {};
  file.points = {{0, 0, 500'000, 5'200'000},
                 {90, 0, 500'900, 5'200'010},
                 {0, 75, 499'990, 5'199'250},
                 {90, 75, 500'890, 5'199'260}};
  write_scene(path("points.tif"), file);
  expect_those_of_the_whole("points.tif -o {}/r.gpkg --bands 1");
}

TEST_F(CliTiles, ByANetwork) {
  write_picture("a.png", drawing(70, 45));
  make_folders();
  const auto run = [&](const std::string& folder, const std::string& more) {
    expect_done(segment(fmt::format(
        "a.png -o {0}/labels.tif --contours {0}/c.tif --weights fast {1}", folder, more)));
  };
  run("whole", "--detail native --merging strength --spectral never");
  run("tiled", "--tile-size 32");
  expect_same("a network");
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

TEST_F(CliTiles, SharesWaitForOneAnother) {
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

TEST_F(CliTiles, ARunThatWasKilledWhileItRemovedItsFilesIsDone) {
  write_picture("a.png", drawing(100, 90));
  const std::string run = "a.png -o out.tif --tile-size 40 --tiles-in work";
  expect_done(tiled(run));
  const std::vector<double> found = labels("out.tif");
  for (const auto& each : fs::directory_iterator(path("work"))) {
    const std::string name = each.path().filename().string();
    if (name != "plan.json" && name != "painted.bin") fs::remove(each.path());
  }
  const Result again = expect_done(tiled(run));
  EXPECT_THAT(again.err, HasSubstr("regions in tiles of 40 pixels"));
  EXPECT_TRUE(labels("out.tif") == found);
}

TEST_F(CliTiles, WhatATileLeftIsCheckedAndMadeAnewWhenItIsGone) {
  plan();
  expect_done(step("tile"));
  const std::string bytes = read("work/map-4.bin");
  using Told = std::vector<std::string>;
  const Told gone = {"1 of 9 tiles", "tile 4"};
  const auto changed = [&](std::size_t at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 5);
    return damaged;
  };
  // Cut off, damaged, that of another tile, of another device, version and plan.
  for (const auto& [damaged, told] : std::vector<std::pair<std::string, Told>>{
           {bytes.substr(0, bytes.size() - 9), gone},
           {changed(bytes.size() / 2), {"map-4.bin", "checksum"}},
           {read("work/map-3.bin"), gone},
           {changed(24), {"map-4.bin", "another device"}},
           {changed(8), gone},
           {changed(16), gone}}) {
    write("work/map-4.bin", damaged);
    expect_error(step("join"), 3, told);
  }
  fs::remove(path("work/map-4.bin"));
  expect_error(step("join"), 3, gone);
  expect_done(step("tile"));
  EXPECT_EQ(read("work/map-4.bin"), bytes);
  expect_done(step("join"));
  steps(3);
  expect_done(step("paint"));
  expect_whole_labels();
}

TEST_F(CliTiles, WhatIsPaintedFromIsChecked) {
  write_picture("a.png", drawing(100, 90));
  expect_done(
      tiled("a.png -o out.tif --contours c.tif --tile-size 40 --tiles-in work --plan-only"));
  steps(4);
  expect_done(step("paint"));
  std::string damaged = read("work/leaves-4.bin");
  damaged[damaged.size() - 6] = static_cast<char>(damaged[damaged.size() - 6] ^ 5);
  write("work/leaves-4.bin", damaged);
  fs::remove(path("out.tif"));
  expect_error(step("paint"), 3, {"leaves-4.bin", "checksum"});
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
  fs::resize_file(path("a.png"), fs::file_size(path("a.png")) - 1);
  expect_error(step("tile"), 3, {"a.png", "has changed"});
}

TEST_F(CliTiles, TwoRunsInOneFolderAndAFullDiskAtAJoin) {
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

TEST_F(CliTiles, PolygonsAreRefusedWhereTheyCannotBe) {
  write_picture("a.png", drawing(100, 90));
  const auto refuse = [&](const std::string& line, int code, const std::vector<std::string>& told) {
    expect_error(tiled(line + " -q --tile-size 40 --tiles-in work --bands 1"), code, told);
    EXPECT_FALSE(exists("work/plan.json"));
  };
  write_scene(path("scene.tif"), islands(90, 75, 4));
  SceneFile file = islands(90, 75, 4);
  file.epsg = 0;
  write_scene(path("unknown.tif"), file);
  refuse("unknown.tif -o r.geojson", 3, {"r.geojson", "gdal_edit.py -a_srs"});
  file.transform = {};
  write_scene(path("nowhere.tif"), file);
  refuse("nowhere.tif -o r.gpkg", 3, {"r.gpkg", "no coordinates"});
  file = islands(90, 75, 4);
  file.bands = 64;
  write_scene(path("many.tif"), file);
  refuse("many.tif -o r.shp", 3, {"r.shp", "64 bands", "255"});
  refuse("scene.tif -o r.gpkg --cog", 2, {"--cog", "r.gpkg"});
  refuse("scene.tif -o r.png", 2, {"FILE.tif", ".gpkg"});
  expect_error(tiled("a.png -q -o r.gpkg --tile-size 40"), 3, {"r.gpkg", "no coordinates"});
  // The scene has changed when it is painted.
  expect_done(tiled("scene.tif -o r.gpkg --tile-size 40 --tiles-in work --bands 1"));
  fs::remove(path("r.gpkg"));
  write_scene(path("scene.tif"), islands(90, 76, 4));
  expect_error(step("paint"), 3, {"scene.tif", "has changed"});
}

}  // namespace
}  // namespace diacut::testing
