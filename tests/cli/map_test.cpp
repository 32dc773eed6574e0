#include "cli_test.hpp"
#include "map_files.hpp"
#include "matchers.hpp"

namespace diacut::testing {
namespace {

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
  /// Segments by the gradient, which needs no network.
  Result cut(const std::string& line) const {
    return segment(line + " --boundary gradient --regions 2");
  }
};

/// A scene of 16 x 12 pixels in coordinates of its own, whose band is that of a.img beside it.
constexpr const char* kVrt =
    "<VRTDataset rasterXSize=\"16\" rasterYSize=\"12\">"
    "<GeoTransform>1, 2, 0, 3, 0, -2</GeoTransform>"
    "<VRTRasterBand dataType=\"UInt16\" band=\"1\"><SimpleSource>"
    "<SourceFilename relativeToVRT=\"1\">a.img</SourceFilename><SourceBand>1</SourceBand>"
    "</SimpleSource></VRTRasterBand></VRTDataset>";

TEST_F(CliMap, LabelsKeepTheCoordinatesOfTheScene) {
  write_scene(path("scene.tif"), scene(4));
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
  write_scene(path("scene.tif"), scene(4));
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

TEST_F(CliMap, AFolderHasTheScenesThatOnlyGdalReads) {
  make_folder("all");
  SceneFile file = scene(1);
  file.driver = "HFA";
  write_scene(path("all/a.img"), file);
  file.driver = "netCDF";
  write_scene(path("all/b.nc"), file);
  write("all/c.vrt", kVrt);
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
  write_scene(path("a.img"), file);
  write("scene.vrt", kVrt);
  expect_done(cut("scene.vrt -o labels.tif"));
  EXPECT_THAT(read_scene(path("labels.tif")).transform, ElementsAre(1, 2, 0, 3, 0, -2));
  file.driver = "GTiff";
  write_scene(path("scene.tif"), file);
  expect_done(cut("/vsisubfile/0,scene.tif -o part.tif"));
  EXPECT_THAT(read_scene(path("part.tif")).projection, HasSubstr("32N"));
  expect_error(cut("/vsisubfile/0,scene.tif"), 2, {"-o"});
}

}  // namespace
}  // namespace diacut::testing
