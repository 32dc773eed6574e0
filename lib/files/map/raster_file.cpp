#include <fmt/format.h>

#include <vector>

#include "diacut/errors.hpp"
#include "diacut/map.hpp"
#include "diacut/output.hpp"
#include "map/raster_blocks.hpp"
#include "output/format.hpp"

namespace diacut {
namespace {

template <class Value>
void write_raster(const std::string& path, const std::vector<Value>& values, const MapFrame& frame,
                  RasterKind kind, bool cloud_optimised) {
  if (values.size() != Window{0, 0, frame.width, frame.height}.pixels()) {
    throw InputError(fmt::format("{}: there are {} values for {} x {} pixels", path, values.size(),
                                 frame.width, frame.height));
  }
  const auto file = start_raster(path, frame, kind, cloud_optimised);
  for (const Window& window : RasterBlocks::windows(frame)) {
    file->write(window, part_of(values, frame.width, window).data());
  }
  file->commit();
}

}  // namespace

void write_map_labels(const std::string& path, const Labels& labels, const MapFrame& frame,
                      bool cloud_optimised) {
  if (labels.width != frame.width || labels.height != frame.height) {
    throw InputError(fmt::format("{}: the labels have {} x {} pixels, the scene {} x {}", path,
                                 labels.width, labels.height, frame.width, frame.height));
  }
  write_raster(path, labels.values, frame, RasterKind::kLabels, cloud_optimised);
}

void check_strength_name(const std::string& path) {
  if (names_tiff(path) || path == "-") return;
  check_extension(path, "maps of boundary strength", ".tif, .png, .npy");
}

void write_map_strength(const std::string& path, const std::vector<float>& strength,
                        const MapFrame& frame, bool cloud_optimised) {
  if (!names_tiff(path)) return write_contours(path, strength, frame.width, frame.height);
  write_raster(path, strength, frame, RasterKind::kStrength, cloud_optimised);
}

MapFrame ultrametric_frame(const MapFrame& frame) {
  MapFrame grid = frame;
  grid.width = 2 * frame.width + 1;
  grid.height = 2 * frame.height + 1;
  if (frame.transform) {
    const auto& t = *frame.transform;
    grid.transform = {t[0] - (t[1] + t[2]) / 4, t[1] / 2, t[2] / 2,
                      t[3] - (t[4] + t[5]) / 4, t[4] / 2, t[5] / 2};
  }
  for (ControlPoint& point : grid.points) {
    point.column = 2 * point.column + 0.5;
    point.row = 2 * point.row + 0.5;
  }
  grid.sensor_model.clear();
  return grid;
}

}  // namespace diacut
