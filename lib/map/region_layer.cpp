#include "map/region_layer.hpp"

#include <cpl_conv.h>
#include <cpl_string.h>
#include <fmt/format.h>
#include <ogrsf_frmts.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include "diacut/errors.hpp"
#include "map/gdal.hpp"
#include "map/globe.hpp"
#include "map/region_shapes.hpp"
#include "output/atomic_file.hpp"
#include "output/format.hpp"

namespace diacut {

namespace {

namespace fs = std::filesystem;

/// Of a table: the label, the area in pixels, and the area in units of the projection.
constexpr std::size_t kOwnFields = 3;
constexpr std::size_t kFieldsOfBand = 4;

/// A side of a pixel in degrees, about.
double degrees_of_pixel(const MapFrame& frame, const OGRSpatialReference& reference) {
  const PixelToMap to_map(frame);
  const double column = frame.width / 2.0;
  const double row = frame.height / 2.0;
  std::vector<double> x = {column, column + 1};
  std::vector<double> y = {row, row + 1};
  to_map.transform(x, y);
  const double side = std::min(std::abs(x[1] - x[0]), std::abs(y[1] - y[0]));
  if (reference.IsGeographic() != 0) return side * reference.GetAngularUnits() * 180 / M_PI;
  constexpr double kMetresOfDegree = 111'320;
  return side * reference.GetLinearUnits() / kMetresOfDegree;
}

/// RFC 7946 advises against more digits than the ground needs; seven are a centimetre.
int digits_for(double degrees) {
  constexpr int kLeast = 7;
  constexpr int kMost = 15;
  if (!(degrees > 0)) return kMost;
  return std::clamp(static_cast<int>(std::ceil(-std::log10(degrees))) + 2, kLeast, kMost);
}

CPLStringList layer_options(const RegionFormat& format, const MapFrame& frame,
                            const OGRSpatialReference& reference) {
  CPLStringList options;
  switch (format.format) {
    case MapRegionFormat::kGeoJson:
      options.AddNameValue("RFC7946", "YES");
      options.AddNameValue("COORDINATE_PRECISION",
                           std::to_string(digits_for(degrees_of_pixel(frame, reference))).c_str());
      break;
    case MapRegionFormat::kGeoPackage:
      options.AddNameValue("GEOMETRY_NAME", "geom");
      break;
    case MapRegionFormat::kShapefile:
      options.AddNameValue("ENCODING", "UTF-8");
      options.AddNameValue("SPATIAL_INDEX", "YES");
      options.AddNameValue("2GB_LIMIT", "YES");
      // A shapefile holds the date of its writing: a fixed one, so that equal regions give equal
      // bytes.
      options.AddNameValue("DBF_DATE_LAST_UPDATE", "1970-01-01");
      break;
  }
  return options;
}

/// A line of a map, over this many pixels, is straight in longitude and latitude too: over s pixels
/// of p metres it is off by about (s p)^2 / (8 R) for the earth's radius R, for pixels of 1 km by a
/// hundredth of a pixel.
constexpr int kStraightPixels = 16;

/// The layer that regions are written to.
class RegionLayer {
 public:
  RegionLayer(GDALDataset& dataset, const RegionFormat& format, const std::string& name,
              const MapFrame& frame, const MapRegions& regions)
      : frame_(frame), reference_(spatial_reference(frame)) {
    OGRSpatialReference written = reference_;
    if (format.format == MapRegionFormat::kGeoJson) {
      globe_.emplace(frame, digits_for(degrees_of_pixel(frame, reference_)), regions.label_at);
      written = globe_reference();
    }
    layer_ = dataset.CreateLayer(name.c_str(), frame.projection.empty() ? nullptr : &written,
                                 globe_ ? wkbUnknown : wkbMultiPolygon,
                                 layer_options(format, frame, reference_).List());
    if (layer_ == nullptr) return;
    add_field("label", OFTInteger64);
    add_field("pixels", OFTInteger64);
    if (reference_.IsProjected() != 0) add_field("area", OFTReal);
    for (const int band : frame.bands) {
      for (const char* figure : {"mean", "std", "min", "max"}) {
        add_field(fmt::format("b{}_{}", band, figure), OFTReal);
      }
    }
  }

  /// False where GDAL refused something.
  bool is_open() const { return layer_ != nullptr && complete_; }
  /// Writes a region. `figures`: of each band of the frame. False where GDAL refused it.
  bool add(std::int64_t label, std::int64_t pixels, const OGRMultiPolygon& shape,
           const BandFigures* figures) {
    OGRFeature feature(layer_->GetLayerDefn());
    int field = 0;
    feature.SetField(field++, static_cast<GIntBig>(label));
    feature.SetField(field++, static_cast<GIntBig>(pixels));
    if (reference_.IsProjected() != 0) feature.SetField(field++, area(pixels, shape));
    for (std::size_t b = 0; b < frame_.bands.size(); ++b) {
      set_figures(figures[b], feature, field);
      field += static_cast<int>(kFieldsOfBand);
    }
    if (globe_) {
      feature.SetGeometryDirectly(globe_->shape(label, shape).release());
    } else if (shape.IsValid() != FALSE) {
      feature.SetGeometry(&shape);
    } else {  // Not of pixels that are parallelograms.
      throw InputError(fmt::format(
          "region {} would cross itself in the scene's coordinates: warp it with gdalwarp first",
          label));
    }
    return layer_->CreateFeature(&feature) == OGRERR_NONE;
  }

 private:
  void add_field(const std::string& name, OGRFieldType type) {
    OGRFieldDefn field(name.c_str(), type);
    complete_ = complete_ && layer_->CreateField(&field) == OGRERR_NONE;
  }

  /// Sets the fields of a band from `field` on; without data they are null.
  static void set_figures(const BandFigures& figures, OGRFeature& feature, int field) {
    if (figures.count == 0) {
      for (std::size_t k = 0; k < kFieldsOfBand; ++k) {
        feature.SetFieldNull(field + static_cast<int>(k));
      }
      return;
    }
    feature.SetField(field, figures.mean());
    feature.SetField(field + 1, figures.deviation());
    feature.SetField(field + 2, figures.least);
    feature.SetField(field + 3, figures.greatest);
  }

  double area(std::int64_t pixels, const OGRMultiPolygon& shape) const {
    if (!frame_.transform) return shape.get_Area();
    const auto& t = *frame_.transform;
    return static_cast<double>(pixels) * std::abs(t[1] * t[5] - t[2] * t[4]);
  }

  const MapFrame& frame_;
  OGRSpatialReference reference_;
  std::optional<Globe> globe_;  ///< Of GeoJSON.
  OGRLayer* layer_ = nullptr;   ///< The dataset's.
  bool complete_ = true;
};

/// While it exists, what this thread writes tells no time, so that the same regions give the same
/// bytes.
class NoClock {
 public:
  NoClock() { CPLSetThreadLocalConfigOption(kOption, "1970-01-01T00:00:00.000Z"); }
  ~NoClock() { CPLSetThreadLocalConfigOption(kOption, nullptr); }
  NoClock(const NoClock&) = delete;
  NoClock& operator=(const NoClock&) = delete;

 private:
  static constexpr const char* kOption = "OGR_CURRENT_DATE";
};

/// A folder in memory that GDAL writes to, removed with its files: GDAL does not tell where a disk
/// takes only a part of what it writes.
class MemoryFolder {
 public:
  MemoryFolder() { VSIMkdir(path_.c_str(), 0700); }
  ~MemoryFolder() { VSIRmdirRecursive(path_.c_str()); }
  MemoryFolder(const MemoryFolder&) = delete;
  MemoryFolder& operator=(const MemoryFolder&) = delete;

  std::string path(const std::string& name) const { return path_ + "/" + name; }
  /// Puts its files in the place of `path` and beside it, the one of that extension last: where
  /// that is, all are.
  void put_in_place(const std::string& path) const {
    std::vector<std::string> names;
    const CPLStringList found(VSIReadDir(path_.c_str()));
    for (int i = 0; i < found.Count(); ++i) {
      if (std::string_view(found[i]).find_first_not_of('.') != std::string::npos) {
        names.emplace_back(found[i]);
      }
    }
    const auto own = [&](const std::string& name) {
      return lower_extension(name) == lower_extension(path);
    };
    std::sort(names.begin(), names.end(), [&](const auto& a, const auto& b) {
      return std::pair(own(a), a) < std::pair(own(b), b);
    });
    std::vector<AtomicFile> files;
    for (const std::string& name : names) {
      const fs::path beside = fs::path(path).replace_extension(fs::path(name).extension());
      files.emplace_back(own(name) ? path : beside.string());
      vsi_l_offset size = 0;
      const GByte* bytes = VSIGetMemFileBuffer(this->path(name).c_str(), &size, 0);
      files.back().write(bytes, static_cast<std::size_t>(size));
    }
    for (AtomicFile& file : files) file.close();
    for (AtomicFile& file : files) file.commit();
  }

 private:
  static std::string next_path() {
    static std::atomic<unsigned> counter{0};
    return fmt::format("/vsimem/diacut-{}-{}", ::getpid(), ++counter);
  }

  const std::string path_ = next_path();
};

/// ESRI's own indices of a shapefile that was replaced.
void remove_old_indices(const std::string& path) {
  if (lower_extension(path) != ".shp") return;
  for (const char* index : {".sbn", ".sbx"}) {
    std::error_code ignored;
    fs::remove(fs::path(path).replace_extension(index), ignored);
  }
}

void write_layer(const std::string& file, const std::string& name, const RegionFormat& format,
                 const MapFrame& frame, const MapRegions& regions) {
  const GdalMessages creating;  // Of GDAL's ways to write a projection only some may fail.
  const NoClock same_bytes;
  Dataset dataset(
      writing_driver(format.driver).Create(file.c_str(), 0, 0, 0, GDT_Unknown, nullptr));
  const auto refuse = [&](const GdalMessages& messages) {
    messages.refuse(fmt::format("GDAL could not write the regions as {}", format.name),
                    "make room, or choose another format (.gpkg, .geojson, .shp) or labels (.tif)");
  };
  if (!dataset) refuse(creating);
  dataset->StartTransaction();
  RegionLayer layer(*dataset, format, name, frame, regions);
  if (!layer.is_open()) refuse(creating);
  const GdalMessages messages;
  for (std::int64_t label = 1; label <= regions.count; ++label) {
    const auto at = static_cast<std::size_t>(label);
    if (regions.pixels[at] == 0) continue;  // Labels of seeds may leave numbers out.
    const OGRMultiPolygon shape = regions.shape(label);
    if (!layer.add(label, regions.pixels[at], shape,
                   regions.figures.data() + (at - 1) * frame.bands.size())) {
      refuse(messages);
    }
  }
  dataset->CommitTransaction();
  dataset.reset();  // Which writes what is left.
  if (!messages.error().empty()) refuse(messages);
}

}  // namespace

void check_region_format(const RegionFormat& format, const MapFrame& frame) {
  if (!frame.has_coordinates()) {
    throw InputError(fmt::format(
        "the picture has no coordinates, which {} needs: give it some with gdal_edit.py -a_ullr, "
        "or write polygons in pixels (--geojson) or labels (.tif)",
        format.name));
  }
  if (format.format == MapRegionFormat::kGeoJson && frame.projection.empty()) {
    throw InputError(
        "the scene does not say what its coordinates are, and GeoJSON is in longitude and "
        "latitude: assign a projection with gdal_edit.py -a_srs, or write a GeoPackage (.gpkg)");
  }
  const std::size_t fields = kOwnFields + kFieldsOfBand * frame.bands.size();
  if (format.most_fields > 0 && fields > format.most_fields) {
    throw InputError(fmt::format("the figures of {} bands are {} fields, and {} holds {}: write {}",
                                 frame.bands.size(), fields, format.name, format.most_fields,
                                 fields > 1998 ? "GeoJSON (.geojson)" : "a GeoPackage (.gpkg)"));
  }
}

int step_of(const RegionFormat& format, const MapFrame& frame) {
  const bool curved =
      format.format == MapRegionFormat::kGeoJson && spatial_reference(frame).IsGeographic() == 0;
  return curved ? kStraightPixels : 0;
}

void write_region_layer(const std::string& path, const RegionFormat& format, const MapFrame& frame,
                        const MapRegions& regions) {
  const MemoryFolder folder;
  encode_for(path, [&] {
    write_layer(folder.path(std::string("regions") + format.extension),
                fs::path(path).stem().string(), format, frame, regions);
  });
  folder.put_in_place(path);
  remove_old_indices(path);
}

Scene scene_of(const MapFrame& frame) {
  Scene scene(frame.source);
  if (scene.width() == frame.width && scene.height() == frame.height &&
      scene.bands() == frame.bands) {
    return scene;
  }
  throw InputError(fmt::format("{} has changed since it was read: run again", frame.source));
}

double BandFigures::mean() const { return first + sum / static_cast<double>(count); }

double BandFigures::deviation() const {
  const double shift = sum / static_cast<double>(count);
  return std::sqrt(std::max(squares / static_cast<double>(count) - shift * shift, 0.0));
}

namespace {

void add(double value, BandFigures& figures) {
  if (figures.count++ == 0) figures.first = figures.least = figures.greatest = value;
  const double shifted = value - figures.first;
  figures.sum += shifted;
  figures.squares += shifted * shifted;
  figures.least = std::min(figures.least, value);
  figures.greatest = std::max(figures.greatest, value);
}

}  // namespace

void add_rows(const BandRows& rows, std::size_t width, const std::int32_t* labels,
              std::vector<BandFigures>& figures) {
  const std::size_t pixels = static_cast<std::size_t>(rows.rows) * width;
  const std::size_t bands = rows.values.size() / pixels;
  for (std::size_t b = 0; b < bands; ++b) {
    const double* values = rows.values.data() + b * pixels;
    const std::uint8_t* valid = rows.valid.data() + b * pixels;
    for (std::size_t i = 0; i < pixels; ++i) {
      if (labels[i] == 0 || valid[i] == 0) continue;
      add(values[i], figures[static_cast<std::size_t>(labels[i] - 1) * bands + b]);
    }
  }
}

std::vector<BandFigures> measure_bands(const Scene& scene, const Labels& labels) {
  const std::vector<int>& bands = scene.bands();
  std::vector<BandFigures> figures(static_cast<std::size_t>(labels.count) * bands.size());
  const int at_once = scene.rows_at_once(bands.size() * (sizeof(double) + 1));
  const auto width = static_cast<std::size_t>(labels.width);
  BandRows rows;
  for (int first = 0; first < labels.height; first += at_once) {
    scene.read_rows(first, std::min(at_once, labels.height - first), bands, rows);
    add_rows(rows, width, labels.values.data() + static_cast<std::size_t>(first) * width, figures);
  }
  return figures;
}

}  // namespace diacut
