#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <opencv2/core.hpp>
#include <random>
#include <string>
#include <vector>

#include "by_pixel.hpp"
#include "diacut/errors.hpp"
#include "diacut/map.hpp"
#include "label_checks.hpp"
#include "map/region_format.hpp"
#include "map_files.hpp"
#include "matchers.hpp"
#include "temp_folder.hpp"

namespace diacut::testing {
namespace {

class MapFiles : public ::testing::Test {
 protected:
  /// A frame that was read from a scene of the size of these labels.
  MapFrame frame_of(SceneFile scene, const Labels& labels) const {
    scene.width = labels.width;
    scene.height = labels.height;
    if (!scene.value) {
      scene.value = [](int band, int x, int y) { return 100 * band + 10 * y + x; };
    }
    write_scene(folder_ / "scene.tif", scene);
    return read_map(folder_ / "scene.tif", {}, {1}).frame;
  }
  /// The features of the labels as they are read back from a file of this name.
  ReadFeatures written(const std::string& name, const Labels& labels, const MapFrame& frame) {
    write_map_regions(folder_ / name, labels, frame);
    return read_features(folder_ / name);
  }
  std::string refusal(const std::string& name, const Labels& labels, const MapFrame& frame) {
    return message_of<Error>([&] { write_map_regions(folder_ / name, labels, frame); });
  }

  TempFolder folder_;
};

class MapLabels : public MapFiles {};
class MapRegions : public MapFiles {};

/// Squares of 50 pixels as regions, and a corner without data.
Labels squares(int width, int height) {
  const int columns = (width + 49) / 50;
  return {width, height, columns * ((height + 49) / 50), by_pixel(width, height, [&](int x, int y) {
            return x + y < 5 ? 0 : y / 50 * columns + x / 50 + 1;
          })};
}

/// Expects that all polygons are valid and no two overlap, to this share of their area, which is
/// returned.
double expect_apart(const ReadFeatures& read, double bound = 1e-11) {
  double sum = 0;
  for (const ReadFeature& feature : read.features) {
    EXPECT_TRUE(feature.is_valid) << feature.value("label");
    sum += feature.area;
  }
  EXPECT_NEAR(read.union_area / sum, 1, bound);
  return sum;
}

TEST_F(MapLabels, KeepTheCoordinatesOfTheScene) {
  const Labels labels = squares(1300, 900);
  const MapFrame frame = frame_of({}, labels);
  for (const bool cloud_optimised : {false, true}) {
    SCOPED_TRACE(cloud_optimised);
    write_map_labels(folder_ / "labels.tif", labels, frame, cloud_optimised);
    const ReadScene read = read_scene(folder_ / "labels.tif");
    EXPECT_EQ(read.type, "UInt32");
    EXPECT_EQ(read.bands, 1);
    EXPECT_EQ(read.no_data, 0);
    EXPECT_EQ(read.compression, "DEFLATE");
    EXPECT_EQ(read.layout, cloud_optimised ? "COG" : "");
    EXPECT_EQ(read.overviews > 0, cloud_optimised);
    if (!cloud_optimised) {
      EXPECT_EQ(std::pair(read.block_width, read.block_height), std::pair(256, 256));
    }
    EXPECT_THAT(read.projection, HasSubstr("UTM zone 32N"));
    EXPECT_EQ(read.projection, read_scene(folder_ / "scene.tif").projection);
    EXPECT_THAT(read.transform, ElementsAre(500'000, 10, 0, 5'200'000, 0, -10));
    EXPECT_TRUE(std::equal(read.values.begin(), read.values.end(), labels.values.begin(),
                           labels.values.end()));
    EXPECT_THAT(folder_.names(), ElementsAre("labels.tif", "scene.tif"));
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
  const MapFrame frame = frame_of(scene, squares(60, 50));
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

TEST_F(MapLabels, WhatCannotBeWrittenLeavesNothing) {
  const MapFrame frame = frame_of({}, squares(60, 50));
  EXPECT_THAT(message_of<InputError>(
                  [&] { write_map_labels(folder_ / "labels.tif", squares(50, 50), frame); }),
              AllOf(HasSubstr("50 x 50"), HasSubstr(folder_ / "labels.tif")));
  EXPECT_THROW(write_map_labels(folder_ / "none/labels.tif", squares(60, 50), frame), InputError);
  EXPECT_THAT(folder_.names(), ElementsAre("scene.tif"));
}

/// A region with holes that touch at a corner, others whose outlines meet at corners, no data.
Labels awkward() {
  return drawn_labels({"111112", "131112", "114112", "111122", "055662", "005566"});
}

/// A disc in the middle, a quarter, a hole in it, and the rest.
Labels discs() {
  return {30, 20, 4, by_pixel(30, 20, [](int x, int y) {
            const bool disc = std::hypot(x - 14.3, y - 9.6) < 6;
            const bool hole = x > 2 && x < 6 && y > 2 && y < 6;
            return hole ? 3 : disc ? 2 : x < 12 && y < 12 ? 4 : 1;
          })};
}

TEST_F(MapRegions, HoldTheirPixelsWhereverTheSceneLies) {
  struct Case {
    int epsg;
    std::vector<double> transform;
  };
  const Labels labels = discs();
  for (const auto& [epsg, transform] :
       {Case{3413, {-3.7e6, 250e3, 0, 2.4e6, 0, -250e3}},
        Case{3031, {-3.7e6, 250e3, 0, 2.4e6, 0, -250e3}},
        Case{3995, {-3.6e6, 250e3, 0, 2.4e6, 0, -250e3}},
        Case{6931, {-3.6e6, 250e3, 0, 2.4e6, 0, -250e3}},
        // The whole world, and a third of a metre more.
        Case{3857, {-20037508.343, 1335833.9, 0, 10e6, 0, -1e6}},
        Case{32601, {1e5, 12e3, 0, 7e6, 0, -12e3}}, Case{32760, {6e5, 12e3, 0, 7e6, 0, -12e3}},
        Case{4326, {0, 12, 0, 80, 0, -8}}, Case{32632, {5e5, 10, 0, 5e6, 0, -10}},
        // Rotated, south-up, and pixels of a millimetre, as of a microscope with coordinates.
        Case{32632, {5e5, 3, 4, 5.2e6, 4, -3}}, Case{32632, {5e5, 3, 0, 5.2e6, 0, 3}},
        Case{32632, {5e5, 0.001, 0, 5.2e6, 0, -0.001}}}) {
    SCOPED_TRACE(epsg);
    const MapFrame frame = frame_of({.epsg = epsg, .transform = transform}, labels);
    write_map_labels(folder_ / "labels.tif", labels, frame);
    EXPECT_THAT(read_scene(folder_ / "labels.tif").transform, ElementsAreArray(transform));
    for (const char* name : {"r.geojson", "r.gpkg", "r.shp"}) {
      SCOPED_TRACE(name);
      write_map_regions(folder_ / name, labels, frame);
      testing::expect_own_centres(folder_ / name, labels, frame);
      const std::string whole = read_bytes(folder_ / name);
      write_region_blocks(folder_ / name, folder_ / "labels.tif", labels.count, frame, {});
      EXPECT_TRUE(read_bytes(folder_ / name) == whole);
    }
  }
}

TEST_F(MapRegions, BeyondTheEdgeOfTheWorldAreRefused) {
  const Labels labels = discs();
  const MapFrame frame =
      frame_of({.epsg = 8857, .transform = {-17.2e6, 1.15e6, 0, 8e6, 0, -8e5}}, labels);
  EXPECT_THAT(refusal("r.geojson", labels, frame),
              AllOf(HasSubstr("region"), HasSubstr("no polygon in longitude and latitude"),
                    HasSubstr(".gpkg")));
  for (const char* name : {"r.gpkg", "r.shp"}) {
    EXPECT_THAT(written(name, labels, frame).projection, HasSubstr("Equal Earth")) << name;
    testing::expect_own_centres(folder_ / name, labels, frame);
  }
  // Debian 12's GeoTIFF cannot hold this projection.
  for (const bool cloud_optimised : {false, true}) {
    write_map_labels(folder_ / "labels.tif", labels, frame, cloud_optimised);
    EXPECT_THAT(testing::read_scene(folder_ / "labels.tif").projection, HasSubstr("Equal Earth"));
  }
  // What lies beside an earlier map tells nothing of a later one.
  write_map_labels(folder_ / "labels.tif", labels,
                   frame_of({.transform = {5e5, 10, 0, 5e6, 0, -10}}, labels));
  EXPECT_THAT(testing::read_scene(folder_ / "labels.tif").projection, HasSubstr("UTM zone 32N"));
  EXPECT_THAT(folder_.names(), ::testing::Each(Not(HasSubstr(".part"))));
}

TEST_F(MapRegions, ThatCannotBeWrittenAreRefused) {
  const Labels labels = awkward();
  const SceneFile none{.epsg = 0, .transform = {}};
  const SceneFile local{.epsg = 0, .transform = {0, 1, 0, 0, 0, -1}};
  const SceneFile on_a_line{
      .epsg = 0, .transform = {}, .points = {{0, 0, 1, 1}, {1, 1, 2, 2}, {2, 2, 3, 3}}};
  // Control points that fold the scene along a column, and pixels finer than their coordinates.
  SceneFile folded;
  for (const double x : {0, 3, 6}) {
    for (const double y : {0, 3, 6}) folded.points.push_back({x, y, (x - 2) * (x - 2), -y});
  }
  const SceneFile fine{.transform = {1e17, 1, 0, 1e17, 0, -1}};
  struct Case {
    SceneFile scene;
    std::vector<const char*> names;
    std::vector<const char*> told;
  };
  for (const auto& [scene, names, told] :
       {Case{folded, {"r.gpkg", "r.shp"}, {"region 1", "cross itself"}},
        Case{fine, {"r.gpkg", "r.shp"}, {"region 1", "cross itself"}},
        Case{none, {"a.gpkg", "a.shp", "a.geojson"}, {"no coordinates", "--geojson"}},
        Case{local, {"a.geojson"}, {"projection", ".gpkg"}},
        Case{{.epsg = 0, .transform = {0, 1, 1, 0, 1, 1}}, {"b.gpkg"}, {"no area"}},
        Case{on_a_line, {"b.gpkg"}, {"control points"}},
        Case{{.bands = 64}, {"a.shp"}, {"64 bands", "255", ".gpkg"}},
        Case{{}, {"a.kml"}, {".kml", ".gpkg"}}}) {
    for (const char* name : names) {
      const std::string message = refusal(name, labels, frame_of(scene, labels));
      EXPECT_THAT(message, HasSubstr(folder_ / name));
      for (const char* part : told) EXPECT_THAT(message, HasSubstr(part)) << name;
    }
  }
  MapFrame frame = frame_of({}, labels);
  EXPECT_THAT(refusal("none/a.shp", labels, frame), HasSubstr("none"));
  EXPECT_THAT(refusal("a.gpkg", drawn_labels({"1"}), frame), HasSubstr("1 x 1"));
  frame_of({.bands = 2}, labels);
  EXPECT_THAT(refusal("a.gpkg", labels, frame), HasSubstr("has changed"));
  frame.source = folder_ / "gone.tif";
  EXPECT_THAT(refusal("a.gpkg", labels, frame), HasSubstr("gone.tif"));
  EXPECT_THAT(folder_.names(), ElementsAre("scene.tif"));
  EXPECT_EQ(written("a.gpkg", labels, frame_of(local, labels)).features.size(), 6u);
  EXPECT_EQ(written("b.gpkg", labels, frame_of({.bands = 64}, labels)).features[0].fields.size(),
            259u);
}

TEST_F(MapRegions, OfAProjectionWithoutAnInverseAreRefused) {
  const Labels labels = awkward();
  MapFrame frame = frame_of({}, labels);
  frame.projection =
      R"(PROJCRS["Larrivee",BASEGEOGCRS["WGS 84",DATUM["World Geodetic System 1984",)"
      R"(ELLIPSOID["WGS 84",6378137,298.257223563]]],CONVERSION["Larrivee",METHOD["PROJ larr"]],)"
      R"(CS[Cartesian,2],AXIS["easting",east],AXIS["northing",north],LENGTHUNIT["metre",1]])";
  EXPECT_THAT(
      refusal("r.geojson", labels, frame),
      AllOf(HasSubstr("r.geojson"), HasSubstr("cannot be inverted"), HasSubstr("GeoPackage")));
  EXPECT_EQ(refusal("r.gpkg", labels, frame), "");
}

TEST_F(MapRegions, EachIsAFeatureWithHolesAndItsArea) {
  const Labels labels = awkward();
  const MapFrame frame = frame_of({}, labels);
  for (const char* name : {"a.gpkg", "a.shp"}) {
    const ReadFeatures read = written(name, labels, frame);
    EXPECT_THAT(read.projection, HasSubstr("32N")) << name;
    ASSERT_EQ(read.features.size(), 6u) << name;
    expect_apart(read);
    for (std::size_t i = 0; i < 6; ++i) {
      const ReadFeature& feature = read.features[i];
      const auto pixels = static_cast<double>(
          std::count(labels.values.begin(), labels.values.end(), static_cast<int>(i) + 1));
      EXPECT_EQ(feature.value("label"), static_cast<double>(i + 1));
      EXPECT_EQ(feature.value("pixels"), pixels);
      EXPECT_EQ(feature.value("area_m2"), 100.0 * pixels);
      EXPECT_NEAR(feature.area, 100.0 * pixels, 1e-6);
    }
    EXPECT_EQ(read.features[0].holes, 2) << name;
    EXPECT_EQ(read.features[0].left, 500'000);
    EXPECT_EQ(read.features[0].upper, 5'200'000);
    EXPECT_EQ(read.features[0].right, 500'050);
    EXPECT_EQ(read.features[5].lower, 5'199'940);
  }
  EXPECT_EQ(read_features(folder_ / "a.gpkg").features[0].kind, "MULTIPOLYGON");
}

TEST_F(MapRegions, OfAnyLabelsAreValidAndCoverThePixels) {
  std::mt19937_64 random(11);
  for (const int kinds : {2, 3, 6}) {
    const Labels labels{24, 19, kinds, by_pixel(24, 19, [&](int, int) {
                          return static_cast<std::int32_t>(random() % (kinds + 1));
                        })};
    const auto data = 24 * 19 - std::count(labels.values.begin(), labels.values.end(), 0);
    const ReadFeatures read =
        written("a.gpkg", labels, frame_of({.transform = {7, 0.3, 0.1, 9, 0.2, -0.4}}, labels));
    EXPECT_NEAR(expect_apart(read), 0.14 * static_cast<double>(data), 1e-9);
    for (const ReadFeature& feature : read.features) {
      EXPECT_NEAR(feature.value("area_m2"), 0.14 * feature.value("pixels"), 1e-9);
    }
  }
}

TEST_F(MapRegions, NeighboursShareEveryVertexOfTheirBoundary) {
  // The outline of region 1 is straight where regions 2 and 3 meet it.
  const Labels labels = drawn_labels({"1111", "2233", "2233"});
  const ReadFeatures read = written("a.gpkg", labels, frame_of({}, labels));
  const std::array<double, 2> meeting = {500'020, 5'199'990};
  for (const ReadFeature& feature : read.features) {
    EXPECT_THAT(feature.vertices, ::testing::Contains(meeting)) << feature.value("label");
  }
}

TEST_F(MapRegions, HaveTheFiguresOfEachBandOfTheSource) {
  const Labels labels = awkward();
  const auto stored = [](int band, int x, int y) {
    if (band == 3 && x == 5) return -1.0;  // All of region 2 but two pixels.
    if (band == 4) return -1.0;
    return 1000.5 * band + 7 * x * y - 3 * x;
  };
  const MapFrame frame =
      frame_of({.type = "Float32", .bands = 5, .no_data = -1, .value = stored}, labels);
  for (const char* name : {"a.gpkg", "a.shp", "a.geojson"}) {
    const ReadFeatures read = written(name, labels, frame);
    for (std::size_t i = 0; i < read.features.size(); ++i) {
      for (int band = 1; band <= 5; ++band) {
        std::vector<double> values;
        for (std::size_t p = 0; p < labels.values.size(); ++p) {
          const double value = stored(band, static_cast<int>(p) % 6, static_cast<int>(p) / 6);
          if (labels.values[p] == static_cast<int>(i) + 1 && value != -1) values.push_back(value);
        }
        const auto field = [&](const char* figure) {
          return read.features[i].value("b" + std::to_string(band) + "_" + figure);
        };
        if (values.empty()) {
          for (const char* figure : {"mean", "std", "min", "max"}) {
            EXPECT_TRUE(std::isnan(field(figure))) << name << band << figure;
          }
          continue;
        }
        cv::Scalar mean, deviation;
        cv::meanStdDev(values, mean, deviation);
        const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
        // Float32 holds these values exactly.
        EXPECT_NEAR(field("mean"), mean[0], 1e-9) << name << i << band;
        EXPECT_NEAR(field("std"), deviation[0], 1e-9) << name << i << band;
        EXPECT_EQ(field("min"), *least) << name;
        EXPECT_EQ(field("max"), *greatest) << name;
      }
    }
  }
}

TEST_F(MapRegions, InGeoJsonAreInLongitudeAndLatitude) {
  const Labels labels = drawn_labels({"1111", "1221", "1111"});
  const ReadFeatures read = written("a.geojson", labels, frame_of({}, labels));
  EXPECT_THAT(read.projection, HasSubstr("WGS 84"));
  ASSERT_EQ(read.features.size(), 2u);
  // 500 km east in zone 32 is its middle meridian; 5200 km north is at 46.95 degrees.
  EXPECT_NEAR(read.features[0].left, 9, 1e-7);
  EXPECT_NEAR(read.features[0].right - 9, 40 / (111'320 * std::cos(46.95 / 180 * M_PI)), 2e-6);
  EXPECT_NEAR(read.features[0].upper, 46.9527, 1e-3);
  EXPECT_EQ(read.features[0].holes, 1);
  for (const ReadFeature& feature : read.features) EXPECT_TRUE(feature.is_valid);
  const std::string text = read_bytes(folder_ / "a.geojson");
  EXPECT_THAT(text, Not(HasSubstr("\"crs\"")));
  EXPECT_THAT(text, HasSubstr("\"Polygon\""));
}

TEST_F(MapRegions, InGeoJsonStayBesideEachOtherAlongLongCurvedLines) {
  // Lines of 400 km in a conic projection are curved in longitude and latitude: by ten pixels.
  const Labels labels{400, 6, 3, by_pixel(400, 6, [](int x, int y) {
                        return y == 2 && x > 0 && x < 399 ? 2 : y > 3 && x > 100 ? 3 : 1;
                      })};
  const SceneFile scene{.epsg = 3035, .transform = {4'800'000, 1000, 0, 4'500'000, 0, -1000}};
  // Overlaps would be in the sum twice: less than a thousandth of a pixel of all pixels.
  expect_apart(written("a.geojson", labels, frame_of(scene, labels)), 1e-6);
}

TEST_F(MapRegions, FollowControlPoints) {
  const Labels labels = awkward();
  const SceneFile scene{
      .points = {{0, 0, 100, 200}, {6, 0, 160, 200}, {0, 6, 100, 140}, {6, 6, 160, 140}}};
  const ReadFeatures read = written("a.gpkg", labels, frame_of(scene, labels));
  for (const ReadFeature& feature : read.features) {
    EXPECT_TRUE(feature.is_valid);
    EXPECT_NEAR(feature.area, 100 * feature.value("pixels"), 1e-6);
    EXPECT_NEAR(feature.value("area_m2"), feature.area, 1e-9);
  }
  EXPECT_NEAR(read.features[0].left, 100, 1e-9);
  EXPECT_NEAR(read.features[0].upper, 200, 1e-9);
}

/// Square metres of a cell of WGS 84 by its radii of curvature, degrees.
double cell_area(double width, double south, double north) {
  constexpr double kRadius = 6378137;
  constexpr double kSquared = 0.00669437999014;  // Eccentricity.
  constexpr int kSteps = 10'000;
  double sum = 0;
  for (int k = 0; k < kSteps; ++k) {
    const double latitude = (south + (north - south) * (k + 0.5) / kSteps) / 180 * M_PI;
    const double s = std::sin(latitude);
    const double n = kRadius / std::sqrt(1 - kSquared * s * s);
    const double m = n * (1 - kSquared) / (1 - kSquared * s * s);
    sum += m * n * std::cos(latitude);
  }
  return sum * (width / 180 * M_PI) * ((north - south) / 180 * M_PI) / kSteps;
}

TEST_F(MapRegions, HaveTheirAreaOnTheGroundWhereTheMapIsNotTrue) {
  const Labels labels = drawn_labels({"1112", "1332", "1112"});
  const auto expect_area = [&](const SceneFile& scene, double expected) {
    const MapFrame frame = frame_of(scene, labels);
    const std::vector<double> areas = ground_areas(frame, trace_outlines(labels));
    ASSERT_EQ(areas.size(), 3u);
    EXPECT_NEAR(areas[2], expected, 1e-7 * expected);
    for (const char* name : {"a.gpkg", "a.shp", "a.geojson"}) {
      EXPECT_NEAR(written(name, labels, frame).features[2].value("area_m2"), areas[2], 1e-3)
          << name;
    }
  };
  expect_area({.epsg = 4326, .transform = {10, 0.01, 0, 60, 0, -0.01}},
              cell_area(0.02, 59.98, 59.99));
  expect_area({.epsg = 4326, .transform = {179.98, 0.01, 0, -60, 0, 0.01}},
              cell_area(0.02, -59.99, -59.98));
  // Web Mercator, whose x is the radius times the longitude; y of 59.98 and 59.99 degrees.
  const auto y_of = [](double latitude) {
    return 6378137 * std::asinh(std::tan(latitude / 180 * M_PI));
  };
  const double pixel = 6378137 * 0.01 / 180 * M_PI;
  const double row = y_of(59.99) - y_of(59.98);
  expect_area({.epsg = 3857, .transform = {1e6, pixel, 0, y_of(59.99) + row, 0, -row}},
              cell_area(0.02, 59.98, 59.99));
  // Around the pole, in a plane that is true at 70 degrees, pixels of 1000 km.
  const Labels around{3, 3, 2, {1, 1, 1, 1, 2, 1, 1, 1, 1}};
  const MapFrame polar =
      frame_of({.epsg = 3413, .transform = {-1.5e6, 1e6, 0, 1.5e6, 0, -1e6}}, around);
  const std::vector<double> areas = ground_areas(polar, trace_outlines(around));
  // Summed over cells of 2.5 km, each by its Jacobian on the ellipsoid.
  EXPECT_NEAR(areas[1] / 1.0608285e12, 1, 1e-4);
  EXPECT_NEAR((areas[0] + areas[1]) / 9.3855244e12, 1, 3e-4);
}

TEST_F(MapRegions, SimplifiedHaveTheirOwnAreaInEveryFormat) {
  const Labels labels{60, 40, 3, by_pixel(60, 40, [](int x, int y) {
                        return std::hypot(x - 30.3, y - 20.6) < 13 ? 2 : x + y < 44 ? 3 : 1;
                      })};
  for (const auto& [epsg, transform] :
       {std::pair(32632, std::vector<double>{5e5, 10, 0, 5e6, 0, -10}),
        std::pair(4326, std::vector<double>{10, 0.001, 0, 50, 0, -0.001}),
        std::pair(3857, std::vector<double>{1e6, 300, 0, 8e6, 0, -300}),
        std::pair(3035, std::vector<double>{4.8e6, 9000, 0, 4.5e6, 0, -9000}),
        std::pair(3413, std::vector<double>{-2.5e5, 9000, 0, 2.4e5, 0, -9000}),
        std::pair(32601, std::vector<double>{1e5, 5000, 0, 7e6, 0, -5000})}) {
    SCOPED_TRACE(epsg);
    const MapFrame frame = frame_of({.epsg = epsg, .transform = transform}, labels);
    const Outlines simple = simplify_outlines(trace_outlines(labels), 2);
    const std::vector<double> areas = ground_areas(frame, simple);
    EXPECT_NE(areas, ground_areas(frame, trace_outlines(labels)));
    for (const char* name : {"a.geojson", "a.gpkg"}) {
      write_map_regions(folder_ / name, labels, frame, 2);
      const ReadFeatures read = read_features(folder_ / name);
      expect_apart(read, 1e-6);
      ASSERT_EQ(read.features.size(), 3u) << name;
      for (std::size_t i = 0; i < 3; ++i) {
        // Sides of 500 km are curved on the ground, and GeoJSON has more vertices on them.
        EXPECT_NEAR(read.features[i].value("area_m2") / areas[i], 1, 1e-5) << name;
      }
    }
  }
}

TEST_F(MapRegions, AShapefileReplacesAllFilesOfAnOldOne) {
  const Labels labels = awkward();
  const MapFrame frame = frame_of({}, labels);
  for (const char* name : {"a.shp", "a.dbf", "a.sbn", "a.sbx", "a.txt"}) {
    std::ofstream(folder_ / name) << "old";
  }
  EXPECT_EQ(written("a.shp", labels, frame).features.size(), 6u);
  EXPECT_THAT(folder_.names(), ElementsAre("a.cpg", "a.dbf", "a.prj", "a.qix", "a.shp", "a.shx",
                                           "a.txt", "scene.tif"));
}

TEST_F(MapRegions, AShapefileIsWholeOrAbsent) {
  const Labels labels = awkward();
  const MapFrame frame = frame_of({}, labels);
  std::filesystem::create_directory(folder_ / "a.shx");
  EXPECT_THAT(refusal("a.shp", labels, frame), AllOf(HasSubstr("a.shx"), HasSubstr("folder")));
  EXPECT_THAT(folder_.names(), ElementsAre("a.shx", "scene.tif"));
}

TEST(MapRegionFormats, AreToldByTheirExtensions) {
  EXPECT_STREQ(region_format_of("a/b.GPKG").driver, "GPKG");
  EXPECT_STREQ(region_format_of("b.geojson").driver, "GeoJSON");
  EXPECT_STREQ(region_format_of("b.shp").driver, "ESRI Shapefile");
  EXPECT_EQ(find_region_format("b.tif"), nullptr);
  EXPECT_EQ(find_region_format("-"), nullptr);
}

}  // namespace
}  // namespace diacut::testing
