#include <cpl_conv.h>
#include <cpl_string.h>
#include <fmt/format.h>
#include <ogrsf_frmts.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/extension.hpp"
#include "diacut/errors.hpp"
#include "diacut/map.hpp"
#include "map/gdal.hpp"
#include "map/globe.hpp"
#include "map/ground.hpp"
#include "map/region_format.hpp"
#include "map/scene.hpp"
#include "output/atomic_file.hpp"
#include "output/format.hpp"
#include "output/outline_sweep.hpp"

namespace diacut {
namespace {

namespace fs = std::filesystem;

/// Of a table: the label, the area in pixels, and the area in units of the projection.
constexpr std::size_t kOwnFields = 3;
constexpr std::size_t kFieldsOfBand = 4;

/// A side of a pixel in degrees, about.
double degrees_of_pixel(const MapFrame& frame, const OGRSpatialReference& reference) {
  const PixelToMap to_map = pixel_to_map(frame);
  const double column = frame.width / 2.0;
  const double row = frame.height / 2.0;
  std::vector<double> x = {column, column + 1};
  std::vector<double> y = {row, row + 1};
  to_map(x, y);
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

/// A line of a map, over this many pixels, is straight in longitude and latitude too: over s pixels
/// of p metres it is off by about (s p)^2 / (8 R) for the earth's radius R, for pixels of 1 km by a
/// hundredth of a pixel.
constexpr int kStraightPixels = 16;

/// What a band holds in a region. Values are summed less the first one that was met, so that a flat
/// region has a deviation of exactly 0.
struct BandFigures {
  std::int64_t count = 0;  ///< The region's pixels with data in the band.
  double first = 0;
  double sum = 0;      ///< Of the values less the first.
  double squares = 0;  ///< Of the same.
  double least = 0;
  double greatest = 0;

  double mean() const { return first + sum / static_cast<double>(count); }
  /// The standard deviation of the pixels (divided by their number).
  double deviation() const {
    const double shift = sum / static_cast<double>(count);
    return std::sqrt(std::max(squares / static_cast<double>(count) - shift * shift, 0.0));
  }

  void add(double value) {
    if (count++ == 0) first = least = greatest = value;
    const double shifted = value - first;
    sum += shifted;
    squares += shifted * shifted;
    least = std::min(least, value);
    greatest = std::max(greatest, value);
  }
};

/// What is counted and measured in regions row by row.
struct RegionSums {
  std::vector<std::int64_t> pixels;  ///< By label; regions without any are left out.
  /// Region after region: those of region L in the k-th of `bands` are at (L - 1) * bands + k.
  std::vector<BandFigures> figures;

  /// labels_of(rows): the labels of these rows. Reads the scene once.
  template <class LabelsOf>
  RegionSums(std::int64_t count, const MapFrame& frame, const LabelsOf& labels_of)
      : pixels(static_cast<std::size_t>(count) + 1, 0),
        figures(static_cast<std::size_t>(count) * frame.bands.size()) {
    const std::size_t bands = frame.bands.size();
    scene_of(frame).each_rows(frame.bands, [&](const BandRows& rows) {
      const std::int32_t* labels = labels_of(rows);
      const std::size_t count_of_rows =
          static_cast<std::size_t>(rows.rows) * static_cast<std::size_t>(frame.width);
      for (std::size_t i = 0; i < count_of_rows; ++i) {
        ++pixels.at(static_cast<std::size_t>(labels[i]));
      }
      for (std::size_t b = 0; b < bands; ++b) {
        const double* values = rows.values.data() + b * count_of_rows;
        for (std::size_t i = 0; i < count_of_rows; ++i) {
          if (labels[i] == 0 || std::isnan(values[i])) continue;
          figures[static_cast<std::size_t>(labels[i] - 1) * bands + b].add(values[i]);
        }
      }
    });
  }
};

/// A ring of a region: corners of pixels.
struct MapRing {
  std::span<const Corner> corners;
  bool hole = false;
};

/// A region in coordinates of a frame, with outer rings counterclockwise and holes clockwise. Each
/// ring that is no hole begins a polygon, whose holes follow it. `step`: the most pixels between
/// two vertices; 0: any. Neighbours, which go along a side in opposite directions, share these
/// vertices to the last bit.
OGRMultiPolygon shape_of(const std::vector<MapRing>& rings, const PixelToMap& to_map, int step) {
  OGRMultiPolygon shape;
  for (const MapRing& ring : rings) {
    std::vector<double> x;
    std::vector<double> y;
    for (std::size_t i = 0; i < ring.corners.size(); ++i) {
      const Corner& from = ring.corners[i];
      const Corner& to = ring.corners[(i + 1) % ring.corners.size()];
      const double length = std::hypot(to.x - from.x, to.y - from.y);
      const int parts = step > 0 ? std::max(1, static_cast<int>(std::ceil(length / step))) : 1;
      for (int k = 0; k < parts; ++k) {
        x.push_back((double(from.x) * (parts - k) + double(to.x) * k) / parts);
        y.push_back((double(from.y) * (parts - k) + double(to.y) * k) / parts);
      }
    }
    to_map(x, y);
    auto made = std::make_unique<OGRLinearRing>();
    made->setPoints(static_cast<int>(x.size()), x.data(), y.data());
    made->closeRings();
    if ((made->isClockwise() != 0) != ring.hole) made->reversePoints();
    if (!ring.hole) shape.addGeometryDirectly(new OGRPolygon);
    shape.getGeometryRef(shape.getNumGeometries() - 1)->addRingDirectly(made.release());
  }
  return shape;
}

std::vector<MapRing> rings_of(const Outlines& outlines, std::int64_t label) {
  std::vector<MapRing> rings;
  for (const Ring& ring : outlines.of(label)) rings.push_back({outlines.of(ring), ring.hole});
  return rings;
}

/// What is written of the regions of a scene.
struct MapRegions {
  std::int64_t count = 0;
  const RegionSums& sums;
  const PixelToMap& to_map;
  /// The rings of a region. Called once for each, in the order of labels.
  std::function<std::vector<MapRing>(std::int64_t label)> rings;
};

/// Makes the layer that regions are written to. Null where GDAL refuses something.
OGRLayer* make_layer(GDALDataset& dataset, const std::string& name, const MapFrame& frame,
                     OGRSpatialReference& reference, bool has_area, OGRwkbGeometryType type,
                     CPLStringList& options) {
  OGRLayer* const layer = dataset.CreateLayer(
      name.c_str(), frame.projection.empty() ? nullptr : &reference, type, options.List());
  bool complete = layer != nullptr;
  const auto add_field = [&](const std::string& field_name, OGRFieldType field_type) {
    OGRFieldDefn field(field_name.c_str(), field_type);
    complete = complete && layer->CreateField(&field) == OGRERR_NONE;
  };
  add_field("label", OFTInteger64);
  add_field("pixels", OFTInteger64);
  if (has_area) add_field("area_m2", OFTReal);
  for (const int band : frame.bands) {
    for (const char* figure : {"mean", "std", "min", "max"}) {
      add_field(fmt::format("b{}_{}", band, figure), OFTReal);
    }
  }
  return complete ? layer : nullptr;
}

/// A folder in memory that GDAL writes to, removed with its files: GDAL does not report that a disk
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
      return has_extension(path, fs::path(name).extension().string());
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
  if (!has_extension(path, ".shp")) return;
  for (const char* index : {".sbn", ".sbx"}) {
    std::error_code ignored;
    fs::remove(fs::path(path).replace_extension(index), ignored);
  }
}

/// What the layer of a file is called: as the file, where GDAL takes that for a GeoPackage.
std::string layer_name(const std::string& path) {
  const std::string name = fs::path(path).stem().string();
  const std::string begin = name.substr(0, 4);
  const bool is_taken = EQUAL(begin.c_str(), "gpkg") || name.empty() ||
                        std::ispunct(static_cast<unsigned char>(name.front())) != 0;
  return is_taken ? "regions" : name;
}

void write_layer(const std::string& file, const std::string& name, const RegionFormat& format,
                 const MapFrame& frame, const MapRegions& regions) {
  const GdalMessages creating;  // Of GDAL's ways to write a projection only some may fail.
  // This thread writes no time, so that the same regions give the same bytes.
  const CPLConfigOptionSetter no_clock("OGR_CURRENT_DATE", "1970-01-01T00:00:00.000Z", false);
  Dataset dataset(
      writing_driver(format.driver).Create(file.c_str(), 0, 0, 0, GDT_Unknown, nullptr));
  const auto refuse = [&](const GdalMessages& messages) {
    messages.refuse(fmt::format("GDAL could not write the regions as {}", format.name),
                    fmt::format("make room, or choose another format ({}) or labels (.tif)",
                                region_extensions()));
  };
  if (!dataset) refuse(creating);
  dataset->StartTransaction();
  OGRSpatialReference reference = spatial_reference(frame);
  const std::optional<GroundArea> ground = GroundArea::of(frame);
  const int step = format.on_globe && reference.IsGeographic() == 0 ? kStraightPixels : 0;
  CPLStringList options(CSLTokenizeString(format.options));
  OnGlobe globe;
  if (format.on_globe) {
    const int digits = digits_for(degrees_of_pixel(frame, reference));
    options.AddNameValue("COORDINATE_PRECISION", std::to_string(digits).c_str());
    globe = on_globe(frame, digits);
    reference = globe_reference();
  }
  OGRLayer* const layer = make_layer(*dataset, name, frame, reference, ground.has_value(),
                                     globe ? wkbUnknown : wkbMultiPolygon, options);
  if (layer == nullptr) refuse(creating);
  const GdalMessages messages;
  const BandFigures* figures = regions.sums.figures.data();
  for (std::int64_t label = 1; label <= regions.count; ++label, figures += frame.bands.size()) {
    const std::int64_t pixels = regions.sums.pixels[static_cast<std::size_t>(label)];
    if (pixels == 0) continue;  // Labels of seeds may leave numbers out.
    const OGRMultiPolygon shape = shape_of(regions.rings(label), regions.to_map, step);
    OGRFeature feature(layer->GetLayerDefn());
    int field = 0;
    feature.SetField(field++, static_cast<GIntBig>(label));
    feature.SetField(field++, static_cast<GIntBig>(pixels));
    if (ground) {
      const double area = ground->square_metres(shape);
      feature.SetField(field, area);
      if (std::isnan(area)) feature.SetFieldNull(field);
      ++field;
    }
    for (const BandFigures& each : std::span(figures, frame.bands.size())) {
      for (const double value : {each.mean(), each.deviation(), each.least, each.greatest}) {
        feature.SetField(field, value);
        if (each.count == 0) feature.SetFieldNull(field);
        ++field;
      }
    }
    if (globe) {
      feature.SetGeometryDirectly(globe(label, shape).release());
    } else if (shape.IsValid() != FALSE) {
      feature.SetGeometry(&shape);
    } else {  // Not of pixels that are parallelograms.
      throw InputError(fmt::format(
          "region {} would cross itself in the scene's coordinates: warp it with gdalwarp first",
          label));
    }
    if (layer->CreateFeature(&feature) != OGRERR_NONE) refuse(messages);
  }
  dataset->CommitTransaction();
  dataset.reset();  // Which writes what is left.
  if (!messages.error().empty()) refuse(messages);
}

/// Throws InputError where regions of a scene cannot be written so.
void check_region_format(const RegionFormat& format, const MapFrame& frame) {
  if (!frame.has_coordinates()) {
    throw InputError(fmt::format(
        "the picture has no coordinates, which {} needs: give it some with gdal_edit.py -a_ullr, "
        "or write polygons in pixels (--geojson) or labels (.tif)",
        format.name));
  }
  if (format.on_globe && frame.projection.empty()) {
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

/// Puts what `write(file, format)` writes in the place of `path` and, of a shapefile, beside it;
/// `file` is in memory. The same regions give the same bytes. Throws InputError that names the
/// path.
template <class Write>
void write_in_place(const std::string& path, const Write& write) {
  const RegionFormat& format = region_format_of(path);
  const MemoryFolder folder;
  encode_for(path, [&] { write(folder.path(std::string("regions") + format.extension), format); });
  folder.put_in_place(path);
  remove_old_indices(path);
}

void check_same_size(const Labels& labels, const MapFrame& frame) {
  if (labels.width == frame.width && labels.height == frame.height) return;
  throw InputError(
      fmt::format("the labels have {} x {} pixels, the scene {} x {}; they must be of "
                  "one size",
                  labels.width, labels.height, frame.width, frame.height));
}

}  // namespace

void check_map_regions(const std::string& path, const MapFrame& frame) {
  const RegionFormat& format = region_format_of(path);
  encode_for(path, [&] { check_region_format(format, frame); });
}

void write_map_regions(const std::string& path, const Labels& labels, const MapFrame& frame,
                       std::optional<double> simplify) {
  const auto width = static_cast<std::size_t>(labels.width);
  write_in_place(path, [&](const std::string& file, const RegionFormat& format) {
    const GdalMessages messages;
    check_region_format(format, frame);
    check_same_size(labels, frame);
    const RegionSums sums(labels.count, frame, [&](const BandRows& rows) {
      return labels.values.data() + static_cast<std::size_t>(rows.first) * width;
    });
    // Where regions meet they have vertices, so that neighbours share all of their common boundary.
    Outlines outlines = trace_outlines(labels, !simplify);
    const PixelToMap to_map = pixel_to_map(frame);
    if (simplify) outlines = simplify_outlines(outlines, *simplify);
    write_layer(file, layer_name(path), format, frame,
                {labels.count, sums, to_map,
                 [&](std::int64_t label) { return rings_of(outlines, label); }});
  });
}

std::vector<double> ground_areas(const MapFrame& frame, const Outlines& outlines) {
  const GdalMessages messages;
  std::vector<double> areas;
  const std::optional<GroundArea> ground = GroundArea::of(frame);
  if (!ground) return areas;
  const PixelToMap to_map = pixel_to_map(frame);
  for (std::size_t label = 1; label + 1 < outlines.first_ring.size(); ++label) {
    const auto rings = rings_of(outlines, static_cast<std::int64_t>(label));
    areas.push_back(ground->square_metres(shape_of(rings, to_map, 0)));
  }
  return areas;
}

void write_region_blocks(const std::string& path, const std::string& labels, std::int64_t count,
                         const MapFrame& frame, const std::function<void(double)>& done) {
  // The first half of the work is to read, the second one to write.
  constexpr double kHalf = 0.5;
  write_in_place(path, [&](const std::string& file, const RegionFormat& format) {
    const GdalMessages messages;
    check_region_format(format, frame);
    limit_block_cache();
    const PixelToMap to_map = pixel_to_map(frame);
    const Dataset raster = open_raster(labels);
    if (!raster) messages.refuse(fmt::format("{}: cannot be read", labels), "run again");
    std::vector<std::vector<RingCorners>> corners_of(static_cast<std::size_t>(count) + 1);
    const AddRow add_row = sweep_outlines(
        frame.width, true, [&](std::int32_t label, std::vector<RingCorners>&& found) {
          corners_of.at(static_cast<std::size_t>(label)) = std::move(found);
        });
    std::vector<std::int32_t> read;
    const RegionSums sums(count, frame, [&](const BandRows& rows) {
      read.resize(static_cast<std::size_t>(rows.rows) * static_cast<std::size_t>(frame.width));
      // The bits of labels are those of unsigned numbers, because none is negative.
      if (raster->GetRasterBand(1)->RasterIO(GF_Read, 0, rows.first, frame.width, rows.rows,
                                             read.data(), frame.width, rows.rows, GDT_UInt32, 0, 0,
                                             nullptr) != CE_None) {
        messages.refuse(fmt::format("{}: cannot be read", labels), "run again");
      }
      for (int y = 0; y < rows.rows; ++y) add_row(read.data() + std::ptrdiff_t{y} * frame.width);
      if (done) done(kHalf * (static_cast<double>(rows.first + rows.rows) / frame.height));
      return read.data();
    });
    add_row(nullptr);
    const auto rings_at = [&](std::int64_t label) {
      constexpr std::int64_t kOften = 1024;
      if (done && label % kOften == 0) {
        done(kHalf + kHalf * static_cast<double>(label) / static_cast<double>(count));
      }
      std::vector<MapRing> rings;
      for (const RingCorners& ring : corners_of[static_cast<std::size_t>(label)]) {
        rings.push_back({ring, !rings.empty()});
      }
      return rings;
    };
    write_layer(file, layer_name(path), format, frame, {count, sums, to_map, rings_at});
  });
}

}  // namespace diacut
