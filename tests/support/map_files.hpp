#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "diacut/labels.hpp"
#include "diacut/map.hpp"

/// Scenes with coordinates made by GDAL, and what GDAL reads in files of polygons.
namespace diacut::testing {

/// What GDAL is told of a scene.
struct SceneFile {
  int width = 0;
  int height = 0;
  std::string driver = "GTiff";
  std::string type = "Byte";  ///< GDAL's name of the samples' type.
  int bands = 1;
  int epsg = 32632;  ///< 0: no projection.
  /// Empty: none.
  std::vector<double> transform = {500'000, 10, 0, 5'200'000, 0, -10};
  /// Column, row, x, y each; in place of the transform.
  std::vector<std::array<double, 4>> points = {};
  std::optional<double> no_data = std::nullopt;
  bool is_colour = false;  ///< The first bands are red, green, blue.
  bool last_is_alpha = false;
  std::vector<int> palette = {};  ///< 0xRRGGBB each.
  std::vector<std::string> options = {};
  std::vector<std::string> sensor_model = {};
  /// The stored value of a band (from 1) at a pixel.
  std::function<double(int band, int x, int y)> value = {};
};
/// Throws std::runtime_error.
void write_scene(const std::string& path, const SceneFile& scene);

/// Gives a TIFF file coordinates, and a value for no data.
void tag_scene(const std::string& path, bool is_placed, std::optional<double> no_data);
/// Makes a TIFF file one that GDAL takes for the mask of the file that it lies beside.
void tag_mask(const std::string& path);

/// Each polygon of a file is valid by GEOS, those of GeoJSON turn as its standard has it, and the
/// centres of pixels lie in that of their own label and in no other.
void expect_own_centres(const std::string& path, const Labels& labels, const MapFrame& frame);

/// Whether lines, from x and y to x and y each, meet nowhere but in ends of both, by GEOS.
bool meet_in_ends_alone(const std::vector<std::array<double, 4>>& lines);

/// What GDAL reads of a raster.
struct ReadScene {
  int width = 0;
  int height = 0;
  int bands = 0;
  std::string type;
  std::string projection;  ///< WKT 2.
  std::vector<double> transform;
  int points = 0;
  std::optional<double> no_data;
  std::string compression;
  std::string layout;  ///< "COG" for a cloud-optimised GeoTIFF.
  int block_width = 0;
  int block_height = 0;
  int overviews = 0;
  std::vector<std::string> sensor_model;
  std::vector<double> values;  ///< Of the first band.
};
ReadScene read_scene(const std::string& path);

/// A feature of a file of polygons.
struct ReadFeature {
  std::map<std::string, double> fields;  ///< NaN where the field has no value.
  bool is_valid = false;                 ///< By the simple-feature rules.
  std::string kind;                      ///< "MULTIPOLYGON"
  double area = 0;
  int holes = 0;
  double left = 0, right = 0, lower = 0, upper = 0;
  /// Every vertex of every ring.
  std::vector<std::array<double, 2>> vertices;

  double value(const std::string& field) const { return fields.at(field); }
};
struct ReadFeatures {
  std::string projection;  ///< Its name.
  std::vector<ReadFeature> features;
  double union_area = 0;  ///< Of all polygons together.
};
ReadFeatures read_features(const std::string& path);

}  // namespace diacut::testing
