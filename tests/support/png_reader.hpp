#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace diacut::testing {

/// What GDAL finds in a PNG.
struct ReadPng {
  int width = 0;
  int height = 0;
  int bits = 0;  ///< 8 or 16.
  int channels = 0;
  /// Row by row, channels interleaved: grey values, indices, or red, green, blue.
  std::vector<std::uint16_t> values = {};
  std::vector<std::array<std::uint8_t, 3>> palette = {};
  std::vector<std::uint8_t> palette_alpha = {};  ///< Of each entry.
  std::map<std::string, std::string> texts = {};
};

/// `bytes` are one whole PNG; anything else throws std::runtime_error.
ReadPng read_png(std::string bytes);
ReadPng read_png(const std::vector<std::uint8_t>& bytes);

}  // namespace diacut::testing
