#include "map/map_regions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "diacut/errors.hpp"
#include "diacut/map.hpp"
#include "map/gdal.hpp"
#include "map/region_format.hpp"
#include "map/region_layer.hpp"
#include "map/region_shapes.hpp"
#include "output/format.hpp"
#include "output/outline_sweep.hpp"

namespace diacut {
namespace {

/// What is found out of the regions of a raster of labels row by row.
struct RegionRows {
  std::vector<std::int64_t> pixels;  ///< By label.
  std::vector<BandFigures> figures;
  std::vector<std::vector<RingCorners>> rings;  ///< By label.

  RegionRows(const std::string& path, std::int64_t count, const MapFrame& frame, int step,
             const std::function<void(double)>& done)
      : pixels(static_cast<std::size_t>(count) + 1, 0),
        figures(static_cast<std::size_t>(count) * frame.bands.size()),
        rings(static_cast<std::size_t>(count) + 1) {
    const GdalMessages messages;
    const Scene scene = scene_of(frame);
    const Dataset labels = open_raster(path);
    if (!labels) messages.refuse(fmt::format("{}: cannot be read", path), "run again");
    OutlineSweep sweep(frame.width, {true, step},
                       [this](std::int32_t label, std::vector<RingCorners>&& found) {
                         rings.at(static_cast<std::size_t>(label)) = std::move(found);
                       });
    const auto width = static_cast<std::size_t>(frame.width);
    const int at_once = scene.rows_at_once(frame.bands.size() * (sizeof(double) + 1));
    std::vector<std::int32_t> rows;
    BandRows bands;
    for (int first = 0; first < frame.height; first += at_once) {
      const int count_of_rows = std::min(at_once, frame.height - first);
      rows.resize(static_cast<std::size_t>(count_of_rows) * width);
      // The bits of labels are those of unsigned numbers, because none is negative.
      if (labels->GetRasterBand(1)->RasterIO(GF_Read, 0, first, frame.width, count_of_rows,
                                             rows.data(), frame.width, count_of_rows, GDT_UInt32, 0,
                                             0, nullptr) != CE_None) {
        messages.refuse(fmt::format("{}: cannot be read", path), "run again");
      }
      for (const std::int32_t label : rows) ++pixels.at(static_cast<std::size_t>(label));
      scene.read_rows(first, count_of_rows, frame.bands, bands);
      add_rows(bands, width, rows.data(), figures);
      for (int y = 0; y < count_of_rows; ++y)
        sweep.add(rows.data() + std::ptrdiff_t{y} * frame.width);
      if (done) done(static_cast<double>(first + count_of_rows) / frame.height);
    }
    sweep.finish();
  }
};

std::vector<std::int64_t> count_pixels(const Labels& labels) {
  std::vector<std::int64_t> pixels(static_cast<std::size_t>(labels.count) + 1, 0);
  for (const std::int32_t label : labels.values) ++pixels[static_cast<std::size_t>(label)];
  return pixels;
}

}  // namespace

void check_map_regions(const std::string& path, const MapFrame& frame) {
  const RegionFormat& format = region_format_of(path);
  encode_for(path, [&] { check_region_format(format, frame); });
}

void write_map_regions(const std::string& path, const Labels& labels, const MapFrame& frame,
                       std::optional<double> simplify) {
  const RegionFormat& format = region_format_of(path);
  std::vector<BandFigures> figures;
  std::optional<RegionShapes> shapes;
  encode_for(path, [&] {
    const GdalMessages messages;
    check_region_format(format, frame);
    check_same_size(labels, frame);
    figures = measure_bands(scene_of(frame), labels);
    shapes.emplace(labels, frame, step_of(format, frame), simplify);
  });
  const std::vector<std::int64_t> pixels = count_pixels(labels);
  write_region_layer(
      path, format, frame,
      {labels.count, pixels, figures, [&](std::int64_t label) { return shapes->shape(label); },
       [&](int x, int y) {
         return std::int64_t{labels.values[static_cast<std::size_t>(y) * labels.width + x]};
       }});
}

void write_region_blocks(const std::string& path, const std::string& labels, std::int64_t count,
                         const MapFrame& frame, const std::function<void(double)>& done) {
  const RegionFormat& format = region_format_of(path);
  // The first half of the work is to read, the second one to write.
  constexpr double kHalf = 0.5;
  std::optional<RegionRows> rows;
  std::optional<PixelToMap> to_map;
  encode_for(path, [&] {
    check_region_format(format, frame);
    const GdalMessages messages;
    limit_block_cache();
    to_map.emplace(frame);
    rows.emplace(labels, count, frame, step_of(format, frame), [&](double share) {
      if (done) done(kHalf * share);
    });
  });
  write_region_layer(
      path, format, frame,
      {count, rows->pixels, rows->figures, [&](std::int64_t label) {
         constexpr std::int64_t kOften = 1024;
         if (done && label % kOften == 0) {
           done(kHalf + kHalf * static_cast<double>(label) / static_cast<double>(count));
         }
         return shape_of(rows->rings[static_cast<std::size_t>(label)], *to_map);
       }});
}

}  // namespace diacut
