#pragma once

#include <cstdint>
#include <vector>

/// @file
/// The regions of an image as one label for each pixel.
namespace diacut {

/// A segmentation. Every pixel with data is in exactly one region, and every region is 4-connected.
struct Labels {
  int width = 0;           ///< Width of the image, pixels.
  int height = 0;          ///< Height of the image, pixels.
  std::int64_t count = 0;  ///< Number of regions.
  /// width * height labels, row by row from the top left: 1..count in the order in which a scan
  /// from the top left first meets the regions; 0 where the image has no data.
  std::vector<std::int32_t> values;
};

}  // namespace diacut
