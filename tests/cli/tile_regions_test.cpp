// Polygons of a scene in tiles: the bytes of the whole scene's.
#include <filesystem>

#include "matchers.hpp"
#include "tiles_test.hpp"

namespace diacut::testing {
namespace {

class CliTileRegions : public CliTiles {
 protected:
  static SceneFile scene(int width, int height) { return islands(width, height, 4); }
  /// The files of one result, by their extensions.
  std::map<std::string, std::string> bytes(const std::string& folder) const {
    std::map<std::string, std::string> found;
    for (const std::string& name : files()) {
      if (name.starts_with(folder + "/r.")) found[name.substr(folder.size() + 1)] = read(name);
    }
    return found;
  }
  void expect_same_files(const std::string& what) const {
    EXPECT_FALSE(bytes("whole").empty()) << what;
    EXPECT_TRUE(bytes("tiled") == bytes("whole")) << what;
  }
  /// Of a scene whole and in tiles of several sizes.
  void expect_regions_of_the_whole(const std::string& input, const std::string& name,
                                   const std::string& wanted) const {
    for (const char* folder : {"whole", "tiled"}) {
      std::filesystem::remove_all(path(folder));
      make_folder(folder);
    }
    expect_done(whole(fmt::format("{} -o whole/{} {}", input, name, wanted)));
    for (const char* size : {"16", "33", "500"}) {
      expect_done(
          tiled(fmt::format("{} -o tiled/{} --tile-size {} {}", input, name, size, wanted)));
      expect_same_files(input + " as " + name + " in tiles of " + size);
    }
    EXPECT_FALSE(exists("tiled/" + name + ".tiles"));
    EXPECT_FALSE(exists("tiled/" + name + ".part"));
  }
};

TEST_F(CliTileRegions, AreThoseOfTheWholeSceneToTheLastByte) {
  write_scene(path("scene.tif"), scene(90, 75));
  for (const char* name : {"r.gpkg", "r.geojson", "r.shp"}) {
    expect_regions_of_the_whole("scene.tif", name, "--bands 3,2,1");
    expect_regions_of_the_whole("scene.tif", name, "--bands 1 --min-size 1 --threshold 0.05");
    const ReadFeatures found = read_features(path(std::string("tiled/") + name));
    EXPECT_GT(found.features.size(), 20U);
    double area = 0;
    for (const ReadFeature& feature : found.features) {
      EXPECT_TRUE(feature.is_valid);
      area += feature.area;
    }
    EXPECT_NEAR(area / found.union_area, 1, 1e-9);
  }
}

TEST_F(CliTileRegions, OfThinAndOfFlatScenesAndWithControlPoints) {
  for (const auto& [width, height] : {std::pair(1, 70), std::pair(70, 1), std::pair(1, 1)}) {
    SceneFile file = scene(width, height);
    file.value = [](int band, int x, int y) { return (x + y) / 9 % 2 * 900 + 100 * band; };
    write_scene(path("thin.tif"), file);
    expect_regions_of_the_whole("thin.tif", "r.geojson", "--bands 1 --min-size 1");
  }
  SceneFile file = scene(60, 50);
  file.value = [](int, int, int) { return 900; };
  write_scene(path("flat.tif"), file);
  expect_regions_of_the_whole("flat.tif", "r.gpkg", "--bands 1");
  file = scene(90, 75);
  file.transform = {};
  file.points = {{0, 0, 500'000, 5'200'000},
                 {90, 0, 500'900, 5'200'010},
                 {0, 75, 499'990, 5'199'250},
                 {90, 75, 500'890, 5'199'260}};
  write_scene(path("points.tif"), file);
  expect_regions_of_the_whole("points.tif", "r.gpkg", "--bands 1");
}

TEST_F(CliTileRegions, InSharesBesideMapsAndPaintedAgain) {
  write_scene(path("scene.tif"), scene(90, 75));
  make_folder("whole");
  make_folder("tiled");
  expect_done(
      tiled("scene.tif -o tiled/r.shp --contours c.tif --bands 3,2,1 --tile-size 40 "
            "--tiles-in work --plan-only"));
  for (int k = 0; k < 4; ++k) {
    const auto first = start("tile work/plan.json --shard 1/2");
    expect_done(step("tile", "--shard 2/2"));
    expect_done(first->wait());
    expect_done(step("join"));
  }
  expect_error(segment("paint work/plan.json", {.file_size_limit = 500}), 3, {"c.tif"});
  EXPECT_FALSE(exists("c.tif"));
  write("tiled/r.sbn", "an index of polygons that are gone");
  expect_done(step("paint"));
  expect_done(whole("scene.tif -o whole/r.shp --contours whole-c.tif --bands 3,2,1"));
  expect_same_files("two shares");
  EXPECT_TRUE(read("c.tif") == read("whole-c.tif"));
  EXPECT_FALSE(exists("work/labels.tif"));
  std::filesystem::remove(path("tiled/r.shp"));
  expect_done(step("paint"));
  expect_same_files("two shares, again");
}

TEST_F(CliTileRegions, OnAFullDisk) {
  write_scene(path("scene.tif"), scene(90, 75));
  for (const char* name : {"r.gpkg", "r.geojson", "r.shp"}) {
    expect_done(tiled(fmt::format(
        "scene.tif -q -o {0} --bands 1 --tile-size 40 --tiles-in {0}-work --plan-only", name)));
    const std::string file = std::string(name) + "-work/plan.json";
    for (int k = 0; k < 4; ++k) {
      expect_done(segment(fmt::format("tile {}", file)));
      expect_done(segment(fmt::format("join {}", file)));
    }
    // The labels fit, and the polygons do not.
    expect_error(segment(fmt::format("paint {}", file), {.file_size_limit = 2'000}), 3,
                 {"/r.", "larger than the system allows"});
    EXPECT_FALSE(exists(name));
    expect_done(segment(fmt::format("paint {}", file)));
    EXPECT_GT(read_features(path(name)).features.size(), 10U);
  }
}

TEST_F(CliTileRegions, OfAKilledRun) {
  write_scene(path("scene.tif"), scene(90, 75));
  make_folder("whole");
  make_folder("tiled");
  run_killed("scene.tif -o tiled/r.gpkg --bands 3,2,1", 1,
             {"work/map-3.bin", "work/joined-regions.bin", "work/labels.tif"});
  expect_done(whole("scene.tif -o whole/r.gpkg --bands 3,2,1"));
  expect_same_files("a killed run");
}

TEST_F(CliTileRegions, AreRefusedWhereTheyCannotBe) {
  write_picture("a.png", drawing(100, 90));
  const auto refuse = [&](const std::string& line, int code, const std::vector<std::string>& told) {
    expect_error(tiled(line + " -q --tile-size 40 --tiles-in work --bands 1"), code, told);
    EXPECT_FALSE(exists("work/plan.json"));
  };
  write_scene(path("scene.tif"), scene(90, 75));
  SceneFile file = scene(90, 75);
  file.epsg = 0;
  write_scene(path("unknown.tif"), file);
  refuse("unknown.tif -o r.geojson", 3, {"r.geojson", "gdal_edit.py -a_srs"});
  file.transform = {};
  write_scene(path("nowhere.tif"), file);
  refuse("nowhere.tif -o r.gpkg", 3, {"r.gpkg", "no coordinates"});
  file = scene(90, 75);
  file.bands = 64;
  write_scene(path("many.tif"), file);
  refuse("many.tif -o r.shp", 3, {"r.shp", "64 bands", "255"});
  refuse("scene.tif -o r.gpkg --cog", 2, {"--cog", "r.gpkg"});
  refuse("scene.tif -o r.png", 2, {"FILE.tif", ".gpkg"});
  expect_error(tiled("a.png -q -o r.gpkg --tile-size 40"), 3, {"r.gpkg", "no coordinates"});
  // The scene has changed when it is painted.
  expect_done(tiled("scene.tif -o r.gpkg --tile-size 40 --tiles-in work --bands 1"));
  std::filesystem::remove(path("r.gpkg"));
  write_scene(path("scene.tif"), scene(90, 76));
  expect_error(step("paint"), 3, {"scene.tif", "has changed"});
}

}  // namespace
}  // namespace diacut::testing
