#include "map/strength_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "diacut/errors.hpp"
#include "diacut/output.hpp"
#include "output/format.hpp"

namespace diacut {
namespace {

bool is_geotiff(const std::string& path) {
  const std::string extension = lower_extension(path);
  return extension == ".tif" || extension == ".tiff";
}

/// The rows that are written at once: of 64 MB, but at least one.
int rows_at_once(int width) {
  constexpr int kValues = 1 << 24;
  return std::max(kValues / width, 1);
}

}  // namespace

StrengthFile::StrengthFile(const std::string& path, const MapFrame& frame, bool cloud_optimised) {
  check_strength_name(path);
  if (is_geotiff(path)) {
    windows_ = RasterBlocks::windows(frame);
    blocks_.emplace(path, frame, RasterKind::kStrength, cloud_optimised);
  } else {
    windows_ = windows_of(frame.width, frame.height, frame.width, rows_at_once(frame.width));
    rows_.emplace(path, frame.width, frame.height);
  }
}

void StrengthFile::write(const Window& window, std::vector<float> values) {
  if (blocks_) {
    blocks_->write(window, std::move(values));
  } else {
    rows_->write(values);
  }
}

void StrengthFile::commit() {
  if (blocks_) {
    blocks_->commit();
  } else {
    rows_->commit();
  }
}

void check_strength_name(const std::string& path) {
  const std::string extension = lower_extension(path);
  if (is_geotiff(path) || path == "-" || extension == ".png" || extension == ".npy") return;
  throw unknown_extension(path, "maps of boundary strength", ".tif, .png, .npy");
}

void write_map_strength(const std::string& path, const std::vector<float>& strength,
                        const MapFrame& frame, bool cloud_optimised) {
  if (!is_geotiff(path)) return write_contours(path, strength, frame.width, frame.height);
  StrengthFile file(path, frame, cloud_optimised);
  const auto width = static_cast<std::size_t>(frame.width);
  if (strength.size() != width * static_cast<std::size_t>(frame.height)) {
    throw InputError(fmt::format("{}: there are {} values for {} x {} pixels", path,
                                 strength.size(), frame.width, frame.height));
  }
  std::vector<float> values;
  for (const Window& window : file.windows()) {
    values.clear();
    for (int y = window.y; y < window.y + window.height; ++y) {
      const float* row = strength.data() + static_cast<std::size_t>(y) * width + window.x;
      values.insert(values.end(), row, row + window.width);
    }
    file.write(window, file.in_blocks(window, values));
  }
  file.commit();
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
