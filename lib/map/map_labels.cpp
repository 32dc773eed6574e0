#include <cpl_string.h>
#include <fmt/format.h>

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
  describe(*dataset->GetRasterBand(1), RasterKind::kLabels);
  return dataset;
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
                                  raster_options(RasterKind::kLabels, cloud_optimised).List(),
                                  nullptr, nullptr));
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
