#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// @file
/// Images, and how they are read from files.
namespace diacut {

/// A decoded image.
struct Image {
  int width = 0;     ///< Width, pixels.
  int height = 0;    ///< Height, pixels.
  int channels = 0;  ///< 1: grey; 3: red, green, blue in sRGB encoding.
  /// width * height * channels values, each in [0, 1] and finite: row by row from the top left, the
  /// channels of a pixel side by side.
  std::vector<float> pixels;
  /// The mask: one byte a pixel, 0 where the image has no data (transparent, NaN or infinite in the
  /// file), where the pixel's values are 0. Empty: every pixel has data.
  std::vector<std::uint8_t> valid;
  /// What a person should know of how the file was read ("16 of 300 pixels are not finite: ...").
  std::vector<std::string> notes;

  /// The number of pixels, with and without data.
  std::size_t pixel_count() const {
    return static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  }
};

/// How the values that a file stores become values in [0, 1].
enum class ValueRange {
  /// Integers, and floats in [0, 1]: as kType where the values fill half of the range or more, else
  /// as kRobust, but 8 bits stretched 20 times at most. Other floats: as kRobust.
  kAuto,
  /// The smallest value that the type can hold becomes 0, the largest 1. Floats must be in [0, 1].
  kType,
  /// The smallest value with data becomes 0, the largest 1, all channels together.
  kData,
  /// As kData, but without the thousandth of the values at either end, which become 0 and 1.
  kRobust,
};

/// How image files are read.
struct ImageParameters {
  ValueRange range = ValueRange::kAuto;   ///< How stored values become values in [0, 1].
  std::int64_t max_pixels = 268'435'456;  ///< Images of more pixels are refused before decoding.
  /// Regions are found in the image reduced so that its longer side has at most this many pixels,
  /// and their boundaries are placed in the image itself. An image that is more than twice as long
  /// as it is wide counts as one of 2:1 with its area. 0: regions are found in the image itself.
  int detail = 640;
  /// Whether files are decoded in a process that can reach nothing but the file's bytes: it may
  /// compute and take memory; it cannot open a file, and anything else, as a socket or a program,
  /// ends it (Linux's seccomp). For files of strangers. What is read is the same.
  bool untrusted = false;
  int decoding_memory = 4096;  ///< The most memory of such a process, MiB.
  int decoding_seconds = 60;   ///< The most time that it may take for an image, seconds.
};

/// Reads an image of the formats that diacut/image_file.hpp names, grey or colour, with or without
/// alpha (pixels with an alpha below half of its range have no data). The file's orientation and
/// colour profile are applied. Of several pages the first is read, with a note. `path`: the file;
/// "-" reads standard input to its end. Throws InputError naming the file when it cannot be read or
/// decoded.
Image read_image(const std::string& path, const ImageParameters& parameters = {});

/// Decodes the bytes of an image file, as read_image() does. Throws InputError naming the image
/// when it cannot be decoded.
Image decode_image(const std::vector<std::uint8_t>& bytes, const std::string& name,
                   const ImageParameters& parameters = {});

}  // namespace diacut
