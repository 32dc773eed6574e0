#pragma once

#include <cstdint>
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
  /// `frame`: where the pixels lie; its size alone for pictures without coordinates.
  RasterBlocks(const std::string& path, const MapFrame& frame, RasterKind kind,
               bool cloud_optimised);
  /// Removes what is not complete.
  ~RasterBlocks();
  RasterBlocks(const RasterBlocks&) = delete;
  RasterBlocks& operator=(const RasterBlocks&) = delete;

  /// The windows in which it is written, in their order, so that equal rasters are equal files.
  static std::vector<Window> windows(const MapFrame& frame);
  /// Writes the pixels of a window, row by row: those of its kind.
  void write(const Window& window, const std::vector<std::int32_t>& labels);
  void write(const Window& window, const std::vector<float>& strength);
  /// Puts the file in its place.
  void commit();

 private:
  class Writing;
  std::unique_ptr<Writing> writing_;
};

}  // namespace diacut
