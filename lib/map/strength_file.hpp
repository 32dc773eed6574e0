#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "map/raster_blocks.hpp"
#include "output/strength_rows.hpp"

namespace diacut {

/// A map of boundary strength that is written part by part, as write_map_strength() writes it.
class StrengthFile {
 public:
  /// `frame`: where the map lies. Throws InputError, or ConfigError for an extension that is not
  /// known.
  StrengthFile(const std::string& path, const MapFrame& frame, bool cloud_optimised);

  /// The windows in which it has to be written, in their order.
  const std::vector<Window>& windows() const { return windows_; }
  /// The values of a window, row by row, as write() takes them. Several threads may ask, while
  /// another one writes.
  std::vector<float> in_blocks(const Window& window, std::vector<float> values) const {
    return blocks_ ? blocks_->in_blocks(window, std::move(values)) : std::move(values);
  }
  /// Writes the next window.
  void write(const Window& window, std::vector<float> values);
  /// Puts the file in its place.
  void commit();

 private:
  std::vector<Window> windows_;
  std::optional<RasterBlocks> blocks_;
  std::optional<StrengthRows> rows_;  ///< Where there are no blocks.
};

}  // namespace diacut
