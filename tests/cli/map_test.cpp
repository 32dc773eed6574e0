#include <nlohmann/json.hpp>

#include "cli_test.hpp"
#include "map_files.hpp"
#include "matchers.hpp"

namespace diacut::testing {
namespace {

using Json = nlohmann::json;

class CliMap : public CliTest {
 protected:
  /// A scene of two halves with a little texture, as the pictures of write_picture().
  SceneFile scene(int bands) const {
    SceneFile file;
    file.width = kWidth;
    file.height = kHeight;
    file.bands = bands;
    file.type = "UInt16";
    file.value = [](int band, int x, int y) {
      return (x < kWidth / 2 ? 400 : 2400) + 100 * band + (x * 7 + y * 5) % 11;
    };
    return file;
  }
  void write_map(const std::string& name, int bands = 4) const {
    write_scene(path(name), scene(bands));
  }
  /// Segments by the gradient, which needs no network.
  Result cut(const std::string& line) const {
    return segment(line + " --boundary gradient --regions 2");
  }
};

/// A scene of 16 x 12 pixels in coordinates of its own, whose band is that of a file. `relative`: 1
/// where the file is named from the folder of the scene.
std::string vrt_of(const std::string& file, int relative) {
  return fmt::format(
      "<VRTDataset rasterXSize=\"16\" rasterYSize=\"12\">"
      "<GeoTransform>1, 2, 0, 3, 0, -2</GeoTransform>"
      "<VRTRasterBand dataType=\"UInt16\" band=\"1\"><SimpleSource>"
      "<SourceFilename relativeToVRT=\"{}\">{}</SourceFilename><SourceBand>1</SourceBand>"
      "</SimpleSource></VRTRasterBand></VRTDataset>",
      relative, file);
}

TEST_F(CliMap, LabelsKeepTheCoordinatesOfTheScene) {
  write_map("scene.tif");
  const Result result = expect_done(cut("scene.tif -o regions.tif"));
  EXPECT_THAT(result.err, HasSubstr("All of its 4 bands were looked at together"));
  const ReadScene source = read_scene(path("scene.tif"));
  const ReadScene labels = read_scene(path("regions.tif"));
  EXPECT_EQ(labels.projection, source.projection);
  EXPECT_EQ(labels.transform, source.transform);
  EXPECT_EQ(labels.type, "UInt32");
  EXPECT_EQ(labels.no_data, 0);
  EXPECT_THAT(labels.values, Contains(2.0));
  expect_done(cut("scene.tif -o cog.tif --cog --bands 3,2,1"));
  EXPECT_EQ(read_scene(path("cog.tif")).layout, "COG");
}

TEST_F(CliMap, RegionsAreFeaturesWithFiguresOfEveryBand) {
  write_map("scene.tif");
  for (const char* name : {"regions.gpkg", "regions.geojson", "regions.shp"}) {
    expect_done(cut(fmt::format("scene.tif -o {} --bands 4", name)));
    const ReadFeatures read = read_features(path(name));
    ASSERT_EQ(read.features.size(), 2u) << name;
    EXPECT_NEAR(read.features[0].value("b4_mean"), 805, 2) << name;
    EXPECT_NEAR(read.features[1].value("b1_max"), 2510, 1) << name;
  }
  EXPECT_THAT(files(), UnorderedElementsAre("scene.tif", "regions.gpkg", "regions.geojson",
                                            "regions.shp", "regions.shx", "regions.dbf",
                                            "regions.prj", "regions.cpg", "regions.qix"));
}

TEST_F(CliMap, TablesAndPolygonsOfScenesAreInMetresAndBands) {
  SceneFile file = scene(4);
  file.transform = {500000, 20, 0, 4600000, 0, -20};
  write_scene(path("scene.tif"), file);
  expect_done(cut("scene.tif --table t.csv --tree a.tree -o s.gpkg --simplify 1"));
  EXPECT_THAT(read("t.csv"),
              AllOf(::testing::StartsWith("label,area,area_m2,x,y,"), HasSubstr(",mean_b1,std_b1,"),
                    HasSubstr(",integrated_b4,"), HasSubstr("\n1,96,38400,0,0,8,12,")));
  EXPECT_EQ(read_features(path("s.gpkg")).features.size(), 2u);
  expect_done(cut("scene.tif --table u.csv --measure b3,1"));
  EXPECT_THAT(read("u.csv"), AllOf(HasSubstr(",integrated_b3,mean_b1,"), Not(HasSubstr("b4"))));
  // Half of the scene is 38,400 square metres.
  expect_done(
      segment("scene.tif -o all.tif --boundary gradient --threshold 0.01 --min-size 3.85ha"));
  EXPECT_THAT(read_scene(path("all.tif")).values, Not(Contains(2.0)));
  for (const auto& [size, count] : {std::pair("3.84ha", 2u), std::pair("38401m2", 1u)}) {
    expect_done(segment(fmt::format(
        "recut a.tree --image scene.tif --threshold 0.01 --min-size {} -o r.gpkg", size)));
    EXPECT_EQ(read_features(path("r.gpkg")).features.size(), count) << size;
  }
  write_picture("photo.png");
  expect_error(segment("photo.png -o x.png --min-size 1ha"), 3, {"photo.png", "--min-size"});
  make_folder("two");
  write_scene(path("two/a.tif"), file);
  file.transform = {500000, 10, 0, 4600000, 0, -10};
  write_scene(path("two/b.tif"), file);
  expect_error(segment("two -o out --min-size 1ha"), 3, {"b.tif", "25", "100"});
}

TEST_F(CliMap, AFolderOfScenesGivesGeoTiffsAndOneOfPicturesPngs) {
  make_folder("all");
  make_folder("all/deep");
  write_map("all/deep/scene.tif", 1);
  write_picture("all/photo.png");
  expect_done(cut("all -o out"));
  EXPECT_TRUE(exists("out/photo.png"));
  EXPECT_THAT(read_scene(path("out/deep/scene.tif")).projection, HasSubstr("32N"));
  // A single scene without -o, too.
  expect_done(cut("all/deep/scene.tif"));
  EXPECT_THAT(read_scene(path("all/deep/scene-labels.tif")).projection, HasSubstr("32N"));
  expect_done(cut("all -o indexed --indexed"));
  EXPECT_TRUE(exists("indexed/deep/scene.png"));
}

TEST_F(CliMap, AFolderHasTheScenesThatOnlyGdalReads) {
  make_folder("all");
  SceneFile file = scene(1);
  file.driver = "HFA";
  write_scene(path("all/a.img"), file);
  file.driver = "netCDF";
  write_scene(path("all/b.nc"), file);
  write("all/c.vrt", vrt_of("a.img", 1));
  write("all/disk.img", std::string(4096, 'x'));
  write("all/notes.asc", "of the scenes");
  const Result result = expect_done(cut("all -o out"));
  EXPECT_THAT(read_scene(path("out/a.tif")).projection, HasSubstr("32N"));
  EXPECT_TRUE(exists("out/b.tif"));
  EXPECT_THAT(read_scene(path("out/c.tif")).transform, ElementsAre(1, 2, 0, 3, 0, -2));
  EXPECT_FALSE(exists("out/disk.tif"));
  EXPECT_THAT(result.err, HasSubstr("2 other files left out"));
}

TEST_F(CliMap, WhatOnlyGdalReadsIsRead) {
  SceneFile file = scene(1);
  file.driver = "HFA";
  write_scene(path("scene.img"), file);
  write("scene.vrt", vrt_of("scene.img", 1));
  expect_done(cut("scene.vrt -o labels.tif"));
  EXPECT_THAT(read_scene(path("labels.tif")).transform, ElementsAre(1, 2, 0, 3, 0, -2));
  file.driver = "GTiff";
  write_scene(path("scene.tif"), file);
  expect_done(cut("/vsisubfile/0,scene.tif -o part.tif"));
  EXPECT_THAT(read_scene(path("part.tif")).projection, HasSubstr("32N"));
  expect_error(cut("/vsisubfile/0,scene.tif"), 2, {"-o"});
}

TEST_F(CliMap, AnotherCutKeepsTheCoordinatesToo) {
  write_map("scene.tif");
  expect_done(cut("scene.tif --tree a.tree"));
  expect_done(segment("recut a.tree --regions 2 --image scene.tif -o regions.gpkg"));
  EXPECT_EQ(read_features(path("regions.gpkg")).features.size(), 2u);
  expect_done(segment("recut a.tree --regions 2 --image scene.tif -o labels.tif --cog"));
  EXPECT_THAT(read_scene(path("labels.tif")).projection, HasSubstr("32N"));
}

TEST_F(CliMap, ScenesThatDoNotFitAreRefused) {
  write_map("scene.tif");
  expect_error(segment("scene.tif -o a.tif --bands 1,2,9"), 3,
               {"scene.tif", "4 bands", "no band 9"});
  expect_error(segment("scene.tif -o a.tif --set image.max_pixels=100"), 3,
               {"scene.tif", "16 x 12", "image.max_pixels"});
  EXPECT_THAT(files(), UnorderedElementsAre("scene.tif"));
}

TEST_F(CliMap, APartOfASceneIsAPictureWithANote) {
  write_map("scene.tif");
  const Result result = expect_done(cut("scene.tif -o a.tif --channel 2"));
  EXPECT_THAT(result.err, HasSubstr("read as a picture, without its coordinates"));
  EXPECT_EQ(read_scene(path("a.tif")).projection, "");
}

TEST_F(CliMap, ASceneFromStandardInputIsAPictureWithANote) {
  write_map("scene.tif", 3);
  const std::string line = "- -o a.tif --boundary gradient --regions 2";
  const Result result = expect_done(segment(line, {.input = read("scene.tif")}));
  EXPECT_THAT(result.err, HasSubstr("read as a picture, without its coordinates"));
  EXPECT_EQ(read_scene(path("a.tif")).projection, "");
  write_picture("plain.png");
  const Result plain = expect_done(segment(line, {.input = read("plain.png")}));
  EXPECT_THAT(plain.err, Not(HasSubstr("coordinates")));
}

TEST_F(CliMap, GdalSaysNothingByItself) {
  write("broken.vrt", vrt_of("/nowhere/scene.tif", 0));
  expect_error(cut("broken.vrt -o a.tif"), 3, {"broken.vrt", "nowhere"});
}

}  // namespace
}  // namespace diacut::testing
