#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace diacut {

/// Boundary strength from elsewhere, to take the place of the cue: width * height values in [0, 1],
/// row by row from the top left.
struct EdgeMap {
  int width = 0;
  int height = 0;
  std::vector<float> strength;
};

/// Reads a map: a grey PNG, TIFF, or another image that read_image() knows, of 8 or 16 bits (scaled
/// by the type's range) or floats in [0, 1]; or a .npy file of two dimensions, (height, width), in
/// C order, of bool, uint8, uint16 (scaled by the type's range), float32 or float64 in [0, 1].
/// Larger maps than max_pixels are refused before they are decoded. Throws InputError.
EdgeMap read_edges(const std::string& path, std::int64_t max_pixels = 268'435'456);

}  // namespace diacut
