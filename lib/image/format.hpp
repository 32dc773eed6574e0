#pragma once

#include "image/bytes.hpp"

namespace diacut {

enum class ImageFormat { kBmp, kJpeg, kPng, kTiff, kWebp };

/// The number of a file's first bytes that identify_format() reads.
inline constexpr std::size_t kFormatHead = 512;

/// The format that a file's first bytes show; the file's name does not matter. Throws InputError,
/// saying what the file seems to be and which formats are read.
ImageFormat identify_format(Bytes head);

}  // namespace diacut
