#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "diacut/map.hpp"

namespace diacut {

/// Labels that are written part by part, into a file as write_map_labels() writes it: tiled,
/// compressed, 32-bit unsigned integers. It appears when it is complete; until then it is beside
/// its place under the name PATH.part.tif. Errors are InputError and name the path.
class LabelBlocks {
 public:
  /// `frame`: where the labels lie; its size alone for pictures without coordinates.
  LabelBlocks(const std::string& path, const MapFrame& frame, bool cloud_optimised);
  /// Removes what is not complete.
  ~LabelBlocks();
  LabelBlocks(const LabelBlocks&) = delete;
  LabelBlocks& operator=(const LabelBlocks&) = delete;

  /// Writes width * height labels, row by row, from pixel (x, y) on.
  void write(int x, int y, int width, int height, const std::int32_t* labels);
  /// Puts the file in its place.
  void commit();

 private:
  class Writing;
  std::unique_ptr<Writing> writing_;
};

}  // namespace diacut
