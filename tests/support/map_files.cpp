#include "map_files.hpp"

#include <cpl_conv.h>
#include <cpl_string.h>
#include <gdal_priv.h>
#include <gtest/gtest.h>
#include <ogrsf_frmts.h>

#include <cmath>
#include <memory>
#include <stdexcept>

namespace diacut::testing {
namespace {

struct Close {
  void operator()(GDALDataset* dataset) const { GDALClose(dataset); }
};
using Opened = std::unique_ptr<GDALDataset, Close>;

void require(bool done, const std::string& what) {
  if (!done) throw std::runtime_error("the test's GDAL: " + what);
}

OGRSpatialReference reference_of(int epsg) {
  OGRSpatialReference reference;
  if (epsg != 0) reference.importFromEPSG(epsg);
  reference.SetAxisMappingStrategy(OAMS_TRADITIONAL_GIS_ORDER);
  return reference;
}

CPLStringList list_of(const std::vector<std::string>& texts) {
  CPLStringList list;
  for (const std::string& text : texts) list.AddString(text.c_str());
  return list;
}

void place(GDALDataset& dataset, const SceneFile& scene) {
  const OGRSpatialReference reference = reference_of(scene.epsg);
  if (!scene.points.empty()) {
    std::vector<GDAL_GCP> points;
    char name[] = "p";
    for (const auto& [column, row, x, y] : scene.points) {
      points.push_back({name, name, column, row, x, y, 0});
    }
    dataset.SetGCPs(static_cast<int>(points.size()), points.data(), &reference);
  } else {
    if (scene.epsg != 0) dataset.SetSpatialRef(&reference);
    std::vector<double> transform = scene.transform;
    if (!transform.empty()) dataset.SetGeoTransform(transform.data());
  }
  CPLStringList model = list_of(scene.sensor_model);
  if (model.Count() > 0) dataset.SetMetadata(model.List(), "RPC");
}

void fill(GDALDataset& dataset, const SceneFile& scene) {
  std::vector<double> row(static_cast<std::size_t>(scene.width));
  for (int band = 1; band <= scene.bands; ++band) {
    GDALRasterBand& each = *dataset.GetRasterBand(band);
    for (int y = 0; y < scene.height; ++y) {
      for (int x = 0; x < scene.width; ++x) {
        row[static_cast<std::size_t>(x)] = scene.value(band, x, y);
      }
      require(each.RasterIO(GF_Write, 0, y, scene.width, 1, row.data(), scene.width, 1, GDT_Float64,
                            0, 0, nullptr) == CE_None,
              "write");
    }
  }
}

std::string wkt(const OGRSpatialReference* reference) {
  if (reference == nullptr) return "";
  const char* const options[] = {"FORMAT=WKT2_2019", nullptr};
  char* text = nullptr;
  reference->exportToWkt(&text, options);
  std::string copy = text;
  CPLFree(text);
  return copy;
}

ReadFeature read_feature(OGRFeature& from) {
  ReadFeature feature;
  for (int i = 0; i < from.GetFieldCount(); ++i) {
    feature.fields[from.GetFieldDefnRef(i)->GetNameRef()] =
        from.IsFieldSetAndNotNull(i) ? from.GetFieldAsDouble(i) : std::nan("");
  }
  const OGRGeometry* geometry = from.GetGeometryRef();
  require(geometry != nullptr, "geometry");
  feature.is_valid = geometry->IsValid() != 0;
  feature.kind = geometry->getGeometryName();
  OGREnvelope box;
  geometry->getEnvelope(&box);
  feature.left = box.MinX;
  feature.right = box.MaxX;
  feature.lower = box.MinY;
  feature.upper = box.MaxY;
  // Shapefiles do not tell a polygon from several.
  const std::unique_ptr<OGRGeometry> several(
      OGRGeometryFactory::forceToMultiPolygon(geometry->clone()));
  const OGRMultiPolygon& polygons = *several->toMultiPolygon();
  feature.area = polygons.get_Area();
  for (const OGRPolygon* polygon : polygons) {
    feature.holes += polygon->getNumInteriorRings();
    for (const OGRLinearRing* ring : polygon) {
      for (const OGRPoint& point : ring) feature.vertices.push_back({point.getX(), point.getY()});
    }
  }
  return feature;
}

/// `flags`: what it is to be, a raster or features.
Opened opened(const std::string& path, unsigned flags) {
  GDALAllRegister();
  Opened dataset(GDALDataset::Open(path.c_str(), flags));
  require(dataset != nullptr, "open " + path);
  return dataset;
}

}  // namespace

void write_scene(const std::string& path, const SceneFile& scene) {
  GDALAllRegister();
  GDALDriver* memory = GetGDALDriverManager()->GetDriverByName("MEM");
  GDALDriver* driver = GetGDALDriverManager()->GetDriverByName(scene.driver.c_str());
  require(driver != nullptr, scene.driver);
  const GDALDataType type = GDALGetDataTypeByName(scene.type.c_str());
  require(type != GDT_Unknown, scene.type);
  Opened dataset(memory->Create("", scene.width, scene.height, scene.bands, type, nullptr));
  require(dataset != nullptr, "create");
  place(*dataset, scene);
  for (int band = 1; band <= scene.bands && scene.no_data; ++band) {
    dataset->GetRasterBand(band)->SetNoDataValue(*scene.no_data);
  }
  for (int band = 1; band <= 3 && scene.is_colour; ++band) {
    const auto colour = static_cast<GDALColorInterp>(GCI_RedBand + band - 1);
    dataset->GetRasterBand(band)->SetColorInterpretation(colour);
  }
  if (scene.last_is_alpha) {
    dataset->GetRasterBand(scene.bands)->SetColorInterpretation(GCI_AlphaBand);
  }
  if (!scene.palette.empty()) {
    GDALColorTable table;
    for (std::size_t i = 0; i < scene.palette.size(); ++i) {
      const int colour = scene.palette[i];
      const GDALColorEntry entry = {static_cast<short>(colour >> 16),
                                    static_cast<short>(colour >> 8 & 255),
                                    static_cast<short>(colour & 255), 255};
      table.SetColorEntry(static_cast<int>(i), &entry);
    }
    dataset->GetRasterBand(1)->SetColorTable(&table);
    dataset->GetRasterBand(1)->SetColorInterpretation(GCI_PaletteIndex);
  }
  fill(*dataset, scene);
  const CPLStringList options = list_of(scene.options);
  const Opened written(
      driver->CreateCopy(path.c_str(), dataset.get(), FALSE, options.List(), nullptr, nullptr));
  require(written != nullptr, "write " + path);
}

ReadScene read_scene(const std::string& path) {
  const Opened dataset = opened(path, GDAL_OF_RASTER);
  ReadScene scene;
  scene.width = dataset->GetRasterXSize();
  scene.height = dataset->GetRasterYSize();
  scene.bands = dataset->GetRasterCount();
  scene.points = dataset->GetGCPCount();
  scene.projection = wkt(scene.points > 0 ? dataset->GetGCPSpatialRef() : dataset->GetSpatialRef());
  scene.transform.resize(6);
  if (dataset->GetGeoTransform(scene.transform.data()) != CE_None) scene.transform.clear();
  GDALRasterBand& band = *dataset->GetRasterBand(1);
  scene.type = GDALGetDataTypeName(band.GetRasterDataType());
  int has_no_data = 0;
  const double no_data = band.GetNoDataValue(&has_no_data);
  if (has_no_data != 0) scene.no_data = no_data;
  const auto item = [&](const char* name) {
    const char* text = dataset->GetMetadataItem(name, "IMAGE_STRUCTURE");
    return std::string(text == nullptr ? "" : text);
  };
  scene.compression = item("COMPRESSION");
  scene.layout = item("LAYOUT");
  band.GetBlockSize(&scene.block_width, &scene.block_height);
  scene.overviews = band.GetOverviewCount();
  const CPLStringList model(dataset->GetMetadata("RPC"), FALSE);
  for (int i = 0; i < model.Count(); ++i) scene.sensor_model.emplace_back(model[i]);
  scene.values.resize(static_cast<std::size_t>(scene.width) *
                      static_cast<std::size_t>(scene.height));
  require(band.RasterIO(GF_Read, 0, 0, scene.width, scene.height, scene.values.data(), scene.width,
                        scene.height, GDT_Float64, 0, 0, nullptr) == CE_None,
          "read");
  return scene;
}

ReadFeatures read_features(const std::string& path) {
  const Opened dataset = opened(path, GDAL_OF_VECTOR);
  OGRLayer& layer = *dataset->GetLayer(0);
  ReadFeatures read;
  const OGRSpatialReference* reference = layer.GetSpatialRef();
  if (reference != nullptr && reference->GetName() != nullptr) {
    read.projection = reference->GetName();
  }
  OGRMultiPolygon all;
  for (const auto& feature : layer) {
    read.features.push_back(read_feature(*feature));
    const std::unique_ptr<OGRGeometry> several(
        OGRGeometryFactory::forceToMultiPolygon(feature->GetGeometryRef()->clone()));
    for (const OGRPolygon* polygon : *several->toMultiPolygon()) all.addGeometry(polygon);
  }
  const std::unique_ptr<OGRGeometry> together(all.UnionCascaded());
  require(together != nullptr, "union");
  read.union_area = OGR_G_Area(OGRGeometry::ToHandle(together.get()));
  return read;
}

void tag_scene(const std::string& path, bool is_placed, std::optional<double> no_data) {
  const Opened dataset = opened(path, GDAL_OF_RASTER | GDAL_OF_UPDATE);
  if (is_placed) place(*dataset, SceneFile{});
  if (no_data) dataset->GetRasterBand(1)->SetNoDataValue(*no_data);
}

void tag_mask(const std::string& path) {
  const Opened dataset = opened(path, GDAL_OF_RASTER | GDAL_OF_UPDATE);
  dataset->SetMetadataItem("INTERNAL_MASK_FLAGS_1", "2");
}

bool meet_in_ends_alone(const std::vector<std::array<double, 4>>& lines) {
  OGRMultiLineString all;
  for (const auto& [x, y, to_x, to_y] : lines) {
    OGRLineString line;
    line.addPoint(x, y);
    line.addPoint(to_x, to_y);
    all.addGeometry(&line);
  }
  return all.IsSimple() != FALSE;
}

void expect_own_centres(const std::string& path, const Labels& labels, const MapFrame& frame) {
  const Opened dataset = opened(path, GDAL_OF_VECTOR);
  OGRLayer& layer = *dataset->GetLayer(0);
  OGRSpatialReference from(frame.projection.c_str());
  OGRSpatialReference to = from;
  const bool on_globe = dataset->GetDriver() == GetGDALDriverManager()->GetDriverByName("GeoJSON");
  if (on_globe) to = reference_of(4326);
  for (OGRSpatialReference* each : {&from, &to}) {
    each->SetAxisMappingStrategy(OAMS_TRADITIONAL_GIS_ORDER);
  }
  const std::unique_ptr<OGRCoordinateTransformation> turn(
      OGRCreateCoordinateTransformation(&from, &to));
  require(turn != nullptr, "transformation");
  std::vector<OGRPoint> centres;
  const auto& t = *frame.transform;
  for (int row = 0; row < labels.height; ++row) {
    for (int column = 0; column < labels.width; ++column) {
      double x = t[0] + t[1] * (column + 0.5) + t[2] * (row + 0.5);
      double y = t[3] + t[4] * (column + 0.5) + t[5] * (row + 0.5);
      require(turn->Transform(1, &x, &y) != 0, "centre");
      centres.emplace_back(on_globe ? std::remainder(x, 360) : x, y);
    }
  }
  for (const auto& feature : layer) {
    const OGRGeometry& shape = *feature->GetGeometryRef();
    const auto label = feature->GetFieldAsInteger64("label");
    EXPECT_TRUE(shape.IsValid()) << label;
    const std::unique_ptr<OGRGeometry> several(
        OGRGeometryFactory::forceToMultiPolygon(shape.clone()));
    for (const OGRPolygon* polygon : *several->toMultiPolygon()) {
      if (!on_globe) break;
      // RFC 7946, 3.1.6: outer rings go counterclockwise, holes clockwise.
      const OGRLinearRing* const outer = polygon->getExteriorRing();
      for (const OGRLinearRing* ring : polygon) EXPECT_EQ(ring->isClockwise(), ring != outer);
    }
    int wrong = 0;
    for (std::size_t k = 0; k < centres.size(); ++k) {
      wrong += (shape.Contains(&centres[k]) != FALSE) != (labels.values[k] == label) ? 1 : 0;
    }
    EXPECT_EQ(wrong, 0) << label;
  }
}

}  // namespace diacut::testing
