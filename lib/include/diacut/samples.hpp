#pragma once

#include <cstddef>
#include <cstdint>

#include "diacut/image.hpp"

/// @file
/// Images from other programs' arrays in memory.
namespace diacut {

/// The type of one sample.
enum class SampleType {
  kBool,     ///< One byte: 0 is the least strength, 1 full strength.
  kUint8,    ///< Unsigned integers of 8 bits.
  kInt8,     ///< Signed integers of 8 bits.
  kUint16,   ///< Unsigned integers of 16 bits.
  kInt16,    ///< Signed integers of 16 bits.
  kUint32,   ///< Unsigned integers of 32 bits.
  kInt32,    ///< Signed integers of 32 bits.
  kFloat32,  ///< IEEE 754 floats of 32 bits.
  kFloat64,  ///< IEEE 754 floats of 64 bits.
};

/// An array of samples. Owns nothing.
struct Samples {
  /// height * width * channels samples in the byte order of the machine: row by row from the top
  /// left, the channels of a pixel side by side. Not owned, and only read.
  const void* data = nullptr;
  SampleType type = SampleType::kUint8;  ///< The type of each sample.
  std::int64_t width = 0;                ///< Width, pixels.
  std::int64_t height = 0;               ///< Height, pixels.
  /// 1: grey; 2: grey and alpha; 3: red, green, blue in sRGB encoding; 4: these and alpha. Alpha is
  /// not multiplied into the colours. Full alpha is 1, 255 or 65535, the first that no alpha of the
  /// array exceeds, but no more than the largest value of the type.
  std::int64_t channels = 1;
  /// Bytes from one row to the next, as cv::Mat::step; 0: rows follow each other without a gap.
  std::size_t stride = 0;
  bool blue_first = false;  ///< Whether the order is blue, green, red, as in OpenCV.
};

/// Copies an array into an image. The result is that of read_image() for a file that stores the
/// same samples: pixels with an alpha below half of its range, and pixels that are not finite, have
/// no data. `parameters`: only `range` and `max_pixels` have an effect. Throws InputError when the
/// array is empty, has more than `max_pixels` pixels, another number of channels, a stride that is
/// less than a row, or no pixel with data; and when its floats lie outside the given range.
Image image_from_samples(const Samples& samples, const ImageParameters& parameters = {});

}  // namespace diacut
