#pragma once

#include <memory>
#include <string>
#include <vector>

#include "diacut/map.hpp"
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
  /// Writes a window, row by row: labels as std::int32_t, whose bits are those of unsigned numbers,
  /// because none is negative; strength as float.
  virtual void write(const Window& window, const void* values) = 0;
  /// Puts the file in its place.
  virtual void commit() = 0;
};

/// Begins a raster. `frame`: where the pixels lie; its size alone for pictures without coordinates.
std::unique_ptr<RasterBlocks> start_raster(const std::string& path, const MapFrame& frame,
                                           RasterKind kind, bool cloud_optimised);

}  // namespace diacut
