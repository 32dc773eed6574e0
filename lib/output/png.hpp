#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace diacut {

using Colour = std::array<std::uint8_t, 3>;  ///< Red, green, blue in sRGB encoding.

/// What goes into a PNG besides the pixels.
struct PngExtras {
  /// For 8-bit pixels of one channel that are indices: the colours, the first one transparent.
  std::vector<Colour> palette;
  /// The tEXt chunks, each of a keyword and a text in ASCII.
  std::vector<std::pair<std::string, std::string>> texts;
  /// Whether large areas have one value. Such pictures are smallest without PNG's filters.
  /// Photographs are smallest with the filters, and zlib's higher levels gain little there.
  bool flat = false;
};

/// A PNG of 8-bit pixels, row by row: 1 channel (grey, or indices) or 3 (red, green, blue).
std::vector<std::uint8_t> encode_png(int width, int height, int channels,
                                     const std::vector<std::uint8_t>& pixels,
                                     const PngExtras& extras = {});

/// A PNG of 16-bit grey pixels that is made row by row, from the top.
class PngRows {
 public:
  PngRows(int width, int height, const PngExtras& extras = {});
  ~PngRows();
  PngRows(const PngRows&) = delete;
  PngRows& operator=(const PngRows&) = delete;

  /// Adds whole rows. Returns the bytes that follow those of earlier calls; those of the last row
  /// end the file.
  std::vector<std::uint8_t> add(std::span<const std::uint16_t> rows);

 private:
  struct Job;
  friend std::vector<std::uint8_t> encode_png(int, int, int, const std::vector<std::uint8_t>&,
                                              const PngExtras&);
  explicit PngRows(std::unique_ptr<Job> job);
  std::vector<std::uint8_t> add(const std::uint8_t* pixels, int count);

  std::unique_ptr<Job> job_;
};

/// A PNG of 16-bit grey pixels, row by row.
std::vector<std::uint8_t> encode_png(int width, int height,
                                     const std::vector<std::uint16_t>& pixels,
                                     const PngExtras& extras = {});

}  // namespace diacut
