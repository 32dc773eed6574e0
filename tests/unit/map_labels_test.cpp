#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "diacut/errors.hpp"
#include "diacut/map.hpp"
#include "map_files.hpp"
#include "temp_folder.hpp"

namespace diacut {
namespace {

using ::diacut::testing::read_bytes;
using ::diacut::testing::read_scene;
using ::diacut::testing::ReadScene;
using ::diacut::testing::SceneFile;
using ::diacut::testing::TempFolder;
using ::diacut::testing::write_scene;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

class MapLabels : public ::testing::Test {
 protected:
  /// A frame that was read from a scene of this size.
  MapFrame frame_of(SceneFile scene, int width, int height) const {
    scene.width = width;
    scene.height = height;
    scene.value = [](int, int x, int y) { return x + y; };
    write_scene(folder_ / "scene.tif", scene);
    return read_map(folder_ / "scene.tif").frame;
  }
  /// Squares of 50 pixels as regions, and a corner without data.
  static Labels squares(int width, int height) {
    Labels labels{width, height, 0, {}};
    const int columns = (width + 49) / 50;
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        const int label = x + y < 5 ? 0 : y / 50 * columns + x / 50 + 1;
        labels.values.push_back(label);
        labels.count = std::max<std::int64_t>(labels.count, label);
      }
    }
    return labels;
  }

  TempFolder folder_;
};

TEST_F(MapLabels, KeepTheCoordinatesOfTheScene) {
  const MapFrame frame = frame_of({}, 300, 200);
  const Labels labels = squares(300, 200);
  write_map_labels(folder_ / "labels.tif", labels, frame);
  const ReadScene source = read_scene(folder_ / "scene.tif");
  const ReadScene read = read_scene(folder_ / "labels.tif");
  EXPECT_EQ(read.type, "UInt32");
  EXPECT_EQ(read.bands, 1);
  EXPECT_EQ(read.no_data, 0);
  EXPECT_EQ(read.compression, "DEFLATE");
  EXPECT_EQ(read.block_width, 256);
  EXPECT_EQ(read.block_height, 256);
  EXPECT_THAT(read.projection, HasSubstr("UTM zone 32N"));
  EXPECT_EQ(read.projection, source.projection);
  EXPECT_THAT(read.transform, ElementsAre(500'000, 10, 0, 5'200'000, 0, -10));
  EXPECT_TRUE(std::equal(read.values.begin(), read.values.end(), labels.values.begin(),
                         labels.values.end()));
  EXPECT_THAT(folder_.names(), ElementsAre("labels.tif", "scene.tif"));
}

TEST_F(MapLabels, HoldMoreRegionsThanSixteenBits) {
  const MapFrame frame = frame_of({}, 600, 500);
  Labels labels{600, 500, 300'000, {}};
  for (int i = 1; i <= 300'000; ++i) labels.values.push_back(i);
  write_map_labels(folder_ / "labels.tif", labels, frame);
  EXPECT_EQ(read_scene(folder_ / "labels.tif").values.back(), 300'000);
}

TEST_F(MapLabels, ACloudOptimisedFileHasOverviewsOfLabels) {
  const MapFrame frame = frame_of({}, 1300, 900);
  const Labels labels = squares(1300, 900);
  write_map_labels(folder_ / "labels.tif", labels, frame, true);
  const ReadScene read = read_scene(folder_ / "labels.tif");
  EXPECT_EQ(read.layout, "COG");
  EXPECT_EQ(read.type, "UInt32");
  EXPECT_EQ(read.no_data, 0);
  EXPECT_EQ(read.compression, "DEFLATE");
  EXPECT_GT(read.overviews, 0);
  EXPECT_EQ(read.projection, read_scene(folder_ / "scene.tif").projection);
  EXPECT_THAT(read.transform, ElementsAre(500'000, 10, 0, 5'200'000, 0, -10));
  EXPECT_TRUE(std::equal(read.values.begin(), read.values.end(), labels.values.begin(),
                         labels.values.end()));
}

TEST_F(MapLabels, KeepRotatedAndSouthUpTransforms) {
  for (const std::vector<double>& transform :
       {std::vector<double>{100, 3, 4, 200, 4, -3}, {100, 3, 0, 200, 0, 3}}) {
    SceneFile scene;
    scene.transform = transform;
    write_map_labels(folder_ / "labels.tif", squares(60, 50), frame_of(scene, 60, 50));
    EXPECT_THAT(read_scene(folder_ / "labels.tif").transform, ElementsAreArray(transform));
  }
}

TEST_F(MapLabels, KeepControlPointsAndTheModelOfTheSensor) {
  SceneFile scene;
  scene.points = {{0, 0, 10, 50}, {60, 0, 15, 50}, {0, 50, 10, 45}, {60, 50, 15, 45}};
  scene.epsg = 4326;
  scene.sensor_model = {"LINE_OFF=25",  "SAMP_OFF=30",   "LAT_OFF=47",    "LONG_OFF=12",
                        "HEIGHT_OFF=0", "LINE_SCALE=25", "SAMP_SCALE=30", "LAT_SCALE=1",
                        "LONG_SCALE=1", "HEIGHT_SCALE=1"};
  const std::string numbers = "1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0";
  for (const char* name : {"LINE_NUM", "LINE_DEN", "SAMP_NUM", "SAMP_DEN"}) {
    scene.sensor_model.push_back(std::string(name) + "_COEFF=" + numbers);
  }
  const MapFrame frame = frame_of(scene, 60, 50);
  ASSERT_EQ(frame.points.size(), 4u);
  EXPECT_GE(frame.sensor_model.size(), 14u);
  write_map_labels(folder_ / "labels.tif", squares(60, 50), frame);
  const ReadScene read = read_scene(folder_ / "labels.tif");
  EXPECT_EQ(read.points, 4);
  EXPECT_THAT(read.projection, HasSubstr("WGS 84"));
  EXPECT_EQ(read.sensor_model, read_scene(folder_ / "scene.tif").sensor_model);
}

TEST_F(MapLabels, APictureWithoutCoordinatesHasNone) {
  MapFrame frame;
  frame.width = 60;
  frame.height = 50;
  write_map_labels(folder_ / "labels.tif", squares(60, 50), frame, true);
  const ReadScene read = read_scene(folder_ / "labels.tif");
  EXPECT_EQ(read.projection, "");
  EXPECT_TRUE(read.transform.empty());
  EXPECT_EQ(read.layout, "COG");
}

TEST_F(MapLabels, AreTheSameBytesEachTime) {
  const MapFrame frame = frame_of({}, 300, 200);
  for (const bool cloud_optimised : {false, true}) {
    write_map_labels(folder_ / "a.tif", squares(300, 200), frame, cloud_optimised);
    write_map_labels(folder_ / "b.tif", squares(300, 200), frame, cloud_optimised);
    EXPECT_EQ(read_bytes(folder_ / "a.tif"), read_bytes(folder_ / "b.tif"));
  }
}

TEST_F(MapLabels, WhatCannotBeWrittenLeavesNothing) {
  const MapFrame frame = frame_of({}, 60, 50);
  try {
    write_map_labels(folder_ / "labels.tif", squares(50, 50), frame);
    ADD_FAILURE() << "labels of another size were written";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("50 x 50"));
    EXPECT_THAT(error.what(), HasSubstr(folder_ / "labels.tif"));
  }
  EXPECT_THROW(write_map_labels(folder_ / "none/labels.tif", squares(60, 50), frame), InputError);
  EXPECT_THAT(folder_.names(), ElementsAre("scene.tif"));
}

}  // namespace
}  // namespace diacut
