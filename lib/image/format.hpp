#pragma once

#include "image/bytes.hpp"

namespace diacut {

enum class ImageFormat { kBmp, kJpeg, kPng, kTiff, kWebp };

/// As many first bytes of a file as identify_format() makes use of.
inline constexpr std::size_t kFormatHead = 512;

/// The format that a file's first bytes show; its name is not asked. Throws InputError, saying what
/// the file seems to be and which formats are read.
ImageFormat identify_format(Bytes head);

}  // namespace diacut
