#pragma once

#include <string>
#include <vector>

#include "diacut/image.hpp"

/// @file
/// Your own boundary maps.
namespace diacut {

/// A boundary map that replaces the one that diacut computes.
struct BoundaryMap {
  int width = 0;   ///< Width of the map, pixels.
  int height = 0;  ///< Height of the map, pixels.
  /// How strong a boundary is at each pixel: width * height values in [0, 1], row by row from the
  /// top left.
  std::vector<float> strength;
};

/// Reads a boundary map from a file: a grey PNG or TIFF, or another image that read_image() knows,
/// of 1 to 16 bits (divided by the largest value) or floats in [0, 1]; or a .npy file of two
/// dimensions, (height, width), of bool, uint8, uint16 (divided by the type's largest value),
/// float32 or float64 in [0, 1]. Each pixel needs data. `parameters`: only `max_pixels` and the
/// members about untrusted files have an effect. Throws InputError naming the file when it cannot
/// be read or is no boundary map.
BoundaryMap read_boundary_map(const std::string& path, const ImageParameters& parameters = {});

}  // namespace diacut
