#include "map/map_regions.hpp"

#include <filesystem>
#include <vector>

#include "diacut/errors.hpp"
#include "diacut/map.hpp"
#include "map/band_figures.hpp"
#include "map/gdal.hpp"
#include "map/region_layer.hpp"
#include "map/region_shapes.hpp"
#include "output/atomic_file.hpp"
#include "output/format.hpp"

namespace diacut {
namespace {

std::vector<std::int64_t> count_pixels(const Labels& labels) {
  std::vector<std::int64_t> pixels(static_cast<std::size_t>(labels.count) + 1, 0);
  for (const std::int32_t label : labels.values) ++pixels[static_cast<std::size_t>(label)];
  return pixels;
}

/// Writes all regions to a file in memory. `layer`: its name.
void encode(const std::string& file, const std::string& layer, const RegionFormat& format,
            const Labels& labels, const MapFrame& frame, std::optional<double> simplify) {
  const GdalMessages messages;
  const std::vector<BandFigures> figures = measure_bands(scene_of(frame), labels);
  const std::vector<std::int64_t> pixels = count_pixels(labels);
  const RegionShapes shapes(labels, frame, step_of(format, frame), simplify);
  write_region_layer(
      file, layer, format, frame,
      {labels.count, pixels, figures, [&](std::int64_t label) { return shapes.shape(label); },
       [&](int x, int y) {
         return std::int64_t{
             labels.values[static_cast<std::size_t>(y) * static_cast<std::size_t>(labels.width) +
                           static_cast<std::size_t>(x)]};
       }});
}

/// Puts the files of a folder in memory beside `path`.
void place_files(const MemoryFolder& folder, const std::string& path) {
  std::vector<AtomicFile> files;
  for (const auto& [name, place] : places_of(folder.names(), path)) {
    files.emplace_back(place);
    copy_file(folder.path(name), files.back());
  }
  for (AtomicFile& file : files) file.close();
  for (AtomicFile& file : files) file.commit();
  remove_old_indices(path);
}

}  // namespace

void check_map_regions(const std::string& path, const MapFrame& frame) {
  const RegionFormat& format = region_format_of(path);
  encode_for(path, [&] { check_region_format(format, frame); });
}

void write_map_regions(const std::string& path, const Labels& labels, const MapFrame& frame,
                       std::optional<double> simplify) {
  write_map_regions_within(path, labels, frame, region_format_of(path).most_bytes, simplify);
}

void write_map_regions_within(const std::string& path, const Labels& labels, const MapFrame& frame,
                              std::uint64_t most_bytes, std::optional<double> simplify) {
  RegionFormat format = region_format_of(path);
  format.most_bytes = most_bytes;
  const MemoryFolder folder;
  encode_for(path, [&] {
    check_region_format(format, frame);
    check_same_size(labels, frame);
    const std::string layer = std::filesystem::path(path).stem().string();
    encode(folder.path(std::string("regions") + format.extension), layer, format, labels, frame,
           simplify);
  });
  place_files(folder, path);
}

}  // namespace diacut
