#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace diacut {

/// A decoded picture: `channels` interleaved values a pixel (1: grey, 3: red, green, blue in sRGB
/// encoding), row by row from the top left, each in [0, 1] and finite.
/// pixels.size() == width * height * channels.
struct Image {
  int width = 0;
  int height = 0;
  int channels = 0;
  std::vector<float> pixels;
  /// One byte a pixel, 0 where there is no data (transparent, NaN or infinite in the file).
  /// Empty: every pixel has data. The pixel values there are 0.
  std::vector<std::uint8_t> valid;
  /// What a person should know of how the file was read ("16 of 300 pixels are not finite: ...").
  std::vector<std::string> notes;

  std::size_t pixel_count() const {
    return static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  }
};

/// How stored values become [0, 1].
enum class ValueRange {
  kAuto,  ///< Integers: the type's range. Floats: as they are if within [0, 1], else as kData.
  kType,  ///< Integers: the type's range. Floats must lie within [0, 1].
  kData,  ///< The smallest to the largest value with data, all channels together.
};

struct ImageParameters {
  ValueRange range = ValueRange::kAuto;
  /// Larger images are refused before they are decoded, in pixels.
  std::int64_t max_pixels = 268'435'456;
};

/// Reads JPEG, PNG, BMP, WebP or TIFF; 8 or 16 bits or float; grey or colour, with or without
/// alpha (an alpha below half of its range is no data). EXIF orientation is applied. `path` "-"
/// reads standard input to its end. Throws InputError.
Image read_image(const std::string& path, const ImageParameters& parameters = {});

/// The same from a file's bytes; `name` is what messages call it.
Image decode_image(const std::vector<std::uint8_t>& bytes, const std::string& name,
                   const ImageParameters& parameters = {});

}  // namespace diacut
