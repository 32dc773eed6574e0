#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/large_memory.hpp"
#include "diacut/map.hpp"
#include "image/resize.hpp"
#include "map/window.hpp"

namespace diacut {

/// What the pixels of a raster are.
enum class RasterKind {
  kLabels,    ///< 32-bit unsigned integers; 0 is declared as no data.
  kStrength,  ///< 32-bit floats.
};

/// A raster that is written part by part, into a tiled, compressed GeoTIFF as write_map_labels()
/// writes it. It appears when it is complete; until then it is beside its place under the name
/// PATH.part.tif. Errors are InputError and name the path.
class RasterBlocks {
 public:
  RasterBlocks() = default;
  virtual ~RasterBlocks() = default;  ///< Removes what is not complete.
  RasterBlocks(const RasterBlocks&) = delete;
  RasterBlocks& operator=(const RasterBlocks&) = delete;

  /// The windows in which it is written, in their order, so that equal rasters are equal files.
  static std::vector<Window> windows(const MapFrame& frame) {
    constexpr int kSide = 2048;  // A multiple of the blocks.
    return windows_of(frame.width, frame.height, kSide, kSide);
  }
  /// The pixels of a window, row by row, as write() takes them. Several threads may ask, while
  /// another one writes.
  template <class Value>
  std::vector<Value> in_blocks(const Window& window, std::vector<Value> values) const;
  /// Writes the next window: labels as std::int32_t, strength as float. Its last blocks stay in
  /// memory until commit().
  template <class Value>
  void write(const Window& window, std::vector<Value> blocks) {
    const auto memory = std::make_shared<const std::vector<Value>>(std::move(blocks));
    write_blocks(window, memory->data(), memory);
  }
  /// Puts the file in its place.
  virtual void commit() = 0;

 private:
  /// The size of the blocks that the file consists of.
  virtual const PictureSize& block() const = 0;
  /// Writes a window's blocks, one after another. The bits of labels are those of unsigned numbers,
  /// because none is negative. `memory`: what keeps the blocks.
  virtual void write_blocks(const Window& window, const void* blocks,
                            const std::shared_ptr<const void>& memory) = 0;
};

/// Begins a raster. `frame`: where the pixels lie; its size alone for pictures without coordinates.
std::unique_ptr<RasterBlocks> start_raster(const std::string& path, const MapFrame& frame,
                                           RasterKind kind, bool cloud_optimised);

template <class Value>
std::vector<Value> RasterBlocks::in_blocks(const Window& window, std::vector<Value> values) const {
  const auto row = static_cast<std::size_t>(window.width);
  const PictureSize& size = block();
  const std::vector<Window> blocks =
      windows_of(window.width, window.height, size.width, size.height);
  // Blocks that are whole take the place of their rows; at the raster's edges they are larger.
  const std::size_t needed = blocks.size() * size.pixels();
  const bool in_place = needed == values.size();
  std::vector<Value> result = in_place ? std::vector<Value>() : large_vector<Value>(needed);
  std::vector<Value> rows;
  auto to = in_place ? values.begin() : result.begin();
  for (const Window& each : blocks) {
    if (each.x == 0) {
      const auto first = values.begin() + static_cast<std::ptrdiff_t>(row) * each.y;
      rows.assign(first, first + static_cast<std::ptrdiff_t>(row) * each.height);
    }
    for (int y = 0; y < each.height; ++y) {
      std::copy_n(rows.begin() + static_cast<std::ptrdiff_t>(row) * y + each.x, each.width,
                  to + std::ptrdiff_t{y} * size.width);
    }
    to += static_cast<std::ptrdiff_t>(size.pixels());
  }
  return in_place ? std::move(values) : std::move(result);
}

}  // namespace diacut
