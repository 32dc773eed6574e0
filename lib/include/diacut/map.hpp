#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "diacut/image.hpp"
#include "diacut/image_file.hpp"
#include "diacut/labels.hpp"
#include "diacut/outlines.hpp"

/// @file
/// Scenes with coordinates, as in remote sensing: functions that read them, and that write their
/// regions with the coordinates of the scene, through GDAL.
///
/// Files are complete or not written at all, as in diacut/output.hpp.
namespace diacut {

/// A point of a scene whose place on the ground is known.
struct ControlPoint {
  std::string name;   ///< Its name in the scene.
  double column = 0;  ///< Pixels from the left edge; the first pixel's centre is at 0.5.
  double row = 0;     ///< Pixels from the upper edge.
  double x = 0;       ///< To the east, in units of the projection.
  double y = 0;       ///< To the north, in units of the projection.
  double z = 0;       ///< Upwards.
};

/// Where a scene lies on the ground, and its bands.
struct MapFrame {
  std::string source;      ///< The name by which GDAL opens the scene.
  int width = 0;           ///< Width, pixels.
  int height = 0;          ///< Height, pixels.
  std::vector<int> bands;  ///< The numbers of the bands, from 1, without alpha bands.
  std::string projection;  ///< The coordinate system as WKT 2; empty: not known.
  std::vector<int> axes;   ///< The axis of the first, second ... coordinate, from 1.
  /// x = t[0] + t[1] column + t[2] row and y = t[3] + t[4] column + t[5] row, from the upper left
  /// corner of the first pixel.
  std::optional<std::array<double, 6>> transform;
  std::vector<ControlPoint> points;       ///< If there is no transform.
  std::vector<std::string> sensor_model;  ///< Rational polynomials: "NAME=VALUE" each.

  /// Whether pixels have coordinates: by a transform, or by three control points or more.
  bool has_coordinates() const { return transform || points.size() >= 3; }
};

/// An image and where it lies.
struct Map {
  Image image;     ///< The chosen bands, as grey or colours.
  MapFrame frame;  ///< Where the scene lies.
};

/// Whether a file is to be read by read_map(): a TIFF or JPEG 2000 file with coordinates, in it or
/// in a world file or .aux.xml beside it, with a value that means no data (if it is upright), or
/// with more than four samples a pixel; a name that begins with "/vsi", or with a prefix of GDAL's
/// as `NETCDF:"a.nc":b`; a file of a format that read_image() does not know and GDAL does. It reads
/// a few bytes of most files. False for "-" and where the file cannot be read.
bool is_map(const std::string& name);

/// Whether the bytes of a TIFF or JPEG 2000 file hold what makes a file a map; false for other
/// formats. Throws InputError when the bytes are no image file.
bool is_map(std::span<const std::uint8_t> file);

/// The extensions of files in a folder that may be scenes, in addition to image_extensions(), in
/// lower case with their dots, ".vrt" first. is_map() decides for each file.
const std::vector<std::string>& map_extensions();

/// Reads a scene. Values are scaled to [0, 1] like those of pictures (ImageParameters::range). One
/// band is read as grey (with a palette: as its colours), three as red, green and blue. With any
/// other number, the first three principal components of all bands become brightness, red against
/// blue, and green against both (the axes of Ohta, Kanade and Sakai, Color information for region
/// segmentation, 1980), after each band is divided by its standard deviation; a note gives the
/// share of the variance. Pixels that a mask, an alpha band or the value of no data excludes in a
/// band that is read have no data. `bands`: the numbers of one band or of three to read; empty: as
/// above. `accepts`: as read_image()
/// takes it. Throws InputError naming the scene when it cannot be read, has no such band, or holds
/// complex numbers; ConfigError for another number of bands.
Map read_map(const std::string& name, const ImageParameters& parameters = {},
             const std::vector<int>& bands = {}, const SizeCheck& accepts = {});

/// Where a scene lies, without its samples. Throws InputError naming it when it cannot be read.
MapFrame read_map_frame(const std::string& name);

/// The orientation of a file with one value for each pixel of a scene, from the coordinates of
/// both: EXIF's number of the orientation in which it is stored; 1 if it has no coordinates. Throws
/// InputError naming the file if it lies elsewhere.
int turn_onto(const MapFrame& scene, const std::string& name);

/// The size of a scene's pixels, in metres; not known without a transform, or if areas on the map
/// differ from those on the ground (ground_areas()).
PixelSize ground_pixel(const MapFrame& frame);

/// The square metres of each region, in the order of labels, on the map; on the ground (on the
/// ellipsoid of its coordinate system) for degrees and where the map's areas are off by more than a
/// hundredth, as Mercator's are. Not a number for a region beyond the earth; empty without
/// coordinates on a known earth.
std::vector<double> ground_areas(const MapFrame& frame, const Outlines& outlines);

/// Reads bands one by one from MapFrame::source, with the values that the scene stores. `wanted`:
/// as ImageFile::read_channels() takes it, with the names "b1", "b2", ... or the scene's own names
/// of bands; empty: all. `visit` gets each band, with NaN where it has no data. Throws InputError
/// naming the scene when it cannot be read, or has no such band.
void read_map_channels(const MapFrame& frame, const std::string& wanted,
                       const std::function<void(Channel&&)>& visit);

/// Writes labels as a tiled, compressed GeoTIFF of 32-bit unsigned integers with the projection,
/// the transform or control points, and the sensor model of a scene; 0 is declared as no data.
/// `cloud_optimised`: whether the file is a cloud-optimised GeoTIFF, with overviews. Throws
/// InputError when the file cannot be written, or sizes differ.
void write_map_labels(const std::string& path, const Labels& labels, const MapFrame& frame,
                      bool cloud_optimised = false);

/// Writes a map of boundary strength: .tif as write_map_labels() does, of 32-bit floats, .png and
/// .npy as write_contours() does. `strength`: values row by row from the top left. `frame`: where
/// they lie; its size alone for pictures without coordinates. Throws ConfigError for another
/// extension; InputError when the file cannot be written, or sizes differ.
void write_map_strength(const std::string& path, const std::vector<float>& strength,
                        const MapFrame& frame, bool cloud_optimised = false);

/// Where the ultrametric_map() of a scene lies, without a sensor model.
MapFrame ultrametric_frame(const MapFrame& frame);

/// Writes each region as a feature of a .gpkg, a .geojson (in longitude and latitude (WGS 84), as
/// RFC 7946 asks) or a .shp (with .shx, .dbf and others beside it): a multipolygon along the sides
/// of its pixels, with holes, whose vertices its neighbours share; its label; its pixels; the area
/// of its polygon as ground_areas() has it ("area_m2"), unless that is not known; and for
/// each band N of the scene the mean, standard deviation (divided by the number of pixels), least
/// and greatest value that the scene stores ("bN_mean", "bN_std", "bN_min", "bN_max"), empty where
/// the band has no data. MapFrame::source is read again. `simplify`: the distance of
/// simplify_outlines(), in pixels; empty: outlines are exact. Throws ConfigError for another
/// extension; InputError when the scene has no coordinates, or GeoJSON would need a projection that
/// is not known, or the format holds fewer fields, and when the source cannot be read, the file
/// cannot be written, or sizes differ.
void write_map_regions(const std::string& path, const Labels& labels, const MapFrame& frame,
                       std::optional<double> simplify = {});

}  // namespace diacut
