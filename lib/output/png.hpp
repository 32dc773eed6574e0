#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace diacut {

using Colour = std::array<std::uint8_t, 3>;  ///< Red, green, blue in sRGB encoding.

/// What goes into a PNG besides the pixels.
struct PngExtras {
  /// For 8-bit pixels of one channel that are indices: their colours, the first one transparent.
  std::vector<Colour> palette;
  /// tEXt chunks: keyword and text, both ASCII.
  std::vector<std::pair<std::string, std::string>> texts;
  /// Large areas have one value. Decides how it is compressed: such pictures shrink most without
  /// PNG's filters, photographs with them, where zlib's higher levels cost much and win little.
  bool flat = false;
};

/// 8-bit pixels row by row, 1 channel (grey, or indices) or 3 (red, green, blue).
std::vector<std::uint8_t> encode_png(int width, int height, int channels,
                                     const std::vector<std::uint8_t>& pixels,
                                     const PngExtras& extras = {});

/// 16-bit grey pixels row by row.
std::vector<std::uint8_t> encode_png(int width, int height,
                                     const std::vector<std::uint16_t>& pixels,
                                     const PngExtras& extras = {});

}  // namespace diacut
