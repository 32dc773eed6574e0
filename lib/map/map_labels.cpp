#include <cpl_string.h>
#include <fmt/format.h>

#include <array>

#include "diacut/errors.hpp"
#include "diacut/map.hpp"
#include "map/gdal.hpp"
#include "output/atomic_file.hpp"
#include "output/format.hpp"

namespace diacut {
namespace {

/// The labels as a dataset that refers to them.
Dataset as_dataset(const Labels& labels) {
  Dataset dataset(
      writing_driver("MEM").Create("", labels.width, labels.height, 0, GDT_UInt32, nullptr));
  // The bits of labels are those of unsigned numbers, because none is negative.
  const auto* values = static_cast<const void*>(labels.values.data());
  CPLStringList options;
  options.AddNameValue("DATAPOINTER", fmt::format("{}", values).c_str());
  dataset->AddBand(GDT_UInt32, options.List());
  dataset->GetRasterBand(1)->SetNoDataValue(0);
  dataset->GetRasterBand(1)->SetDescription("label");
  return dataset;
}

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

CPLStringList creation_options(bool cloud_optimised) {
  CPLStringList options;
  options.AddNameValue("COMPRESS", "DEFLATE");
  options.AddNameValue("BIGTIFF", "IF_SAFER");
  if (cloud_optimised) {
    options.AddNameValue("PREDICTOR", "YES");
    // A mean of labels is no label.
    options.AddNameValue("RESAMPLING", "NEAREST");
  } else {
    options.AddNameValue("TILED", "YES");
    options.AddNameValue("PREDICTOR", "2");
  }
  return options;
}

/// Writes the labels to a file in memory.
void encode(const std::string& file, const Labels& labels, const MapFrame& frame,
            bool cloud_optimised) {
  const GdalMessages messages;
  check_same_size(labels, frame);
  const Dataset dataset = as_dataset(labels);
  place(*dataset, frame);
  Dataset written(writing_driver(cloud_optimised ? "COG" : "GTiff")
                      .CreateCopy(file.c_str(), dataset.get(), FALSE,
                                  creation_options(cloud_optimised).List(), nullptr, nullptr));
  written.reset();  // Which writes what is left.
  if (!messages.error().empty()) {
    messages.refuse("GDAL could not write the labels", "write them as .npy");
  }
}

}  // namespace

void write_map_labels(const std::string& path, const Labels& labels, const MapFrame& frame,
                      bool cloud_optimised) {
  const MemoryFolder folder;
  const std::string file = folder.path("labels.tif");
  encode_for(path, [&] { encode(file, labels, frame, cloud_optimised); });
  AtomicFile target(path);
  copy_file(file, target);
  target.commit();
}

}  // namespace diacut
