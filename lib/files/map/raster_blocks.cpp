#include "map/raster_blocks.hpp"

#include <cpl_string.h>
#include <fmt/format.h>
#include <tiffio.h>

#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <mutex>
#include <system_error>

#include "diacut/errors.hpp"
#include "map/gdal.hpp"
#include "output/atomic_file.hpp"

namespace diacut {
namespace {

constexpr const char* kAdvice = "make room and run again, which goes on from here";

/// Where GDAL puts what a GeoTIFF cannot hold, as some projections.
std::string beside(const std::string& path) { return path + ".aux.xml"; }

/// GDAL 3.10 reports by libtiff's handler alone that the last bytes of a file do not fit the disk.
void finish_file(const std::function<void()>& work) {
  static std::mutex one_by_one;
  const std::lock_guard lock(one_by_one);
  const TIFFErrorHandler of_host =
      TIFFSetErrorHandler([](const char*, const char* format, va_list arguments) {
        CPLErrorV(CE_Failure, CPLE_FileIO, format, arguments);
      });
  const std::shared_ptr<void> restored(nullptr, [&](void*) { TIFFSetErrorHandler(of_host); });
  work();
}

/// Gives a dataset the coordinates of a frame.
void place(GDALDataset& dataset, const MapFrame& frame) {
  const OGRSpatialReference reference = spatial_reference(frame);
  if (frame.transform) {
    std::array<double, 6> transform = *frame.transform;
    dataset.SetGeoTransform(transform.data());
  }
  if (!frame.points.empty()) {
    const std::vector<GDAL_GCP> points = control_points(frame);
    dataset.SetGCPs(static_cast<int>(points.size()), points.data(), &reference);
  } else if (!frame.projection.empty()) {
    dataset.SetSpatialRef(&reference);
  }
  CPLStringList model;
  for (const std::string& each : frame.sensor_model) model.AddString(each.c_str());
  if (model.Count() > 0) dataset.SetMetadata(model.List(), "RPC");
}

/// How GeoTIFF files are made, by GDAL's driver GTiff or COG.
CPLStringList raster_options(RasterKind kind, bool cloud_optimised) {
  CPLStringList options;
  options.AddNameValue("COMPRESS", "DEFLATE");
  options.AddNameValue("BIGTIFF", "IF_SAFER");
  options.AddNameValue("NUM_THREADS", "ALL_CPUS");
  if (cloud_optimised) {
    options.AddNameValue("PREDICTOR", "YES");
    // A mean of labels is no label.
    options.AddNameValue("RESAMPLING", kind == RasterKind::kLabels ? "NEAREST" : "AVERAGE");
  } else {
    options.AddNameValue("TILED", "YES");
    options.AddNameValue("PREDICTOR", kind == RasterKind::kLabels ? "2" : "3");
  }
  return options;
}

class GdalWriting : public RasterBlocks {
 public:
  GdalWriting(const std::string& path, const MapFrame& frame, RasterKind kind, bool cloud_optimised)
      : path_(path), part_(path + ".part.tif"), kind_(kind), cloud_optimised_(cloud_optimised) {
    const GdalMessages messages;
    limit_block_cache();
    dataset_ = Dataset(writing_driver("GTiff").Create(part_.c_str(), frame.width, frame.height, 1,
                                                      type(), raster_options(kind, false).List()));
    if (!dataset_) messages.refuse(fmt::format("{}: cannot be written", path), kAdvice);
    GDALRasterBand& band = *dataset_->GetRasterBand(1);
    if (kind == RasterKind::kLabels) band.SetNoDataValue(0);
    band.SetDescription(kind == RasterKind::kLabels ? "label" : "strength");
    place(*dataset_, frame);
  }

  ~GdalWriting() override {
    const GdalMessages quiet;
    dataset_.reset();
    std::error_code ignored;
    for (const std::string& left : {part_, optimised()}) {
      std::filesystem::remove(left, ignored);
      std::filesystem::remove(beside(left), ignored);
    }
  }

  void write(const Window& window, const void* values) override {
    const GdalMessages messages;
    GDALRasterBand& band = *dataset_->GetRasterBand(1);
    // GDAL only reads the values.
    const CPLErr failed = band.RasterIO(GF_Write, window.x, window.y, window.width, window.height,
                                        const_cast<void*>(values), window.width, window.height,
                                        type(), 0, 0, nullptr);
    // Blocks lie in the file in the order of windows, whatever else GDAL's cache holds.
    if (failed == CE_None && band.FlushCache() == CE_None && messages.error().empty()) return;
    messages.refuse(fmt::format("{}: cannot be written", path_), kAdvice);
  }

  void commit() override {
    const GdalMessages messages;
    finish_file([this] { dataset_.reset(); });
    const auto check = [&] {
      if (messages.error().empty()) return;
      messages.refuse(fmt::format("{}: cannot be written", path_), kAdvice);
    };
    check();
    std::string whole = part_;
    if (cloud_optimised_) {
      const Dataset source = open_raster(part_);
      check();
      GDALDriver& driver = writing_driver("COG");
      finish_file([&] {
        Dataset(driver.CreateCopy(optimised().c_str(), source.get(), FALSE,
                                  raster_options(kind_, true).List(), nullptr, nullptr));
      });
      check();
      whole = optimised();
    }
    remove_beside(path_);
    const int error = std::rename(beside(whole).c_str(), beside(path_).c_str()) != 0 ? errno : 0;
    if ((error != 0 && error != ENOENT) || std::rename(whole.c_str(), path_.c_str()) != 0) {
      throw InputError(fmt::format("{}: cannot be put in its place: {}", path_,
                                   std::generic_category().message(errno)));
    }
  }

 private:
  GDALDataType type() const { return kind_ == RasterKind::kLabels ? GDT_UInt32 : GDT_Float32; }
  std::string optimised() const { return path_ + ".part.cog.tif"; }

  std::string path_;
  std::string part_;
  RasterKind kind_;
  bool cloud_optimised_;
  Dataset dataset_;
};

}  // namespace

std::unique_ptr<RasterBlocks> start_raster(const std::string& path, const MapFrame& frame,
                                           RasterKind kind, bool cloud_optimised) {
  return std::make_unique<GdalWriting>(path, frame, kind, cloud_optimised);
}

}  // namespace diacut
