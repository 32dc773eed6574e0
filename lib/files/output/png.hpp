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
  /// For 8-bit pixels of one channel that are indices: the colours, the first one transparent.
  std::vector<Colour> palette = {};
  /// The tEXt chunks, each of a keyword and a text in ASCII.
  std::vector<std::pair<std::string, std::string>> texts = {};
  /// Whether large areas have one value. Such pictures are smallest without PNG's filters.
  /// Photographs are smallest with the filters, and zlib's higher levels gain little there.
  bool flat = false;
};

/// A PNG of 8-bit pixels, row by row: 1 channel (grey, or indices), 3 (red, green, blue) or 4 (with
/// alpha).
std::vector<std::uint8_t> encode_png(int width, int height, int channels,
                                     const std::vector<std::uint8_t>& pixels,
                                     const PngExtras& extras = {});

/// A PNG of 16-bit grey pixels, row by row.
std::vector<std::uint8_t> encode_png(int width, int height,
                                     const std::vector<std::uint16_t>& pixels,
                                     const PngExtras& extras = {});

}  // namespace diacut
