#pragma once

#include <cstddef>
#include <cstdint>

#include "diacut/image.hpp"

/// @file
/// Images from arrays in memory, as other programs hold them.
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

/// An array of samples that somebody else owns.
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
  /// Bytes from one row to the next, as cv::Mat::step; 0: as many as a row has.
  std::size_t stride = 0;
  bool blue_first = false;  ///< Whether colours are blue, green, red, as OpenCV has them.
};

/// Makes an image of an array, which is copied. The values are those that read_image() makes of a
/// file that stores the same samples: pixels with an alpha below half of its range, and pixels that
/// are not finite, have no data. `parameters`: `range` and `max_pixels` count. Throws InputError
/// when the array is empty, has more pixels than that, another number of channels, a stride that is
/// less than a row, or no pixel with data; and when its floats do not lie in the range that was
/// asked for.
Image image_from_samples(const Samples& samples, const ImageParameters& parameters = {});

}  // namespace diacut
