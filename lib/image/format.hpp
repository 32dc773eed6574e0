#pragma once

#include <string>

#include "image/bytes.hpp"

namespace diacut {

enum class ImageFormat {
  kBmp,
  kGif,
  kHeif,
  kJpeg,
  kJpeg2000,
  kJxl,
  kPng,
  kPnm,
  kRaw,
  kTiff,
  kWebp
};

/// The number of a file's first bytes that identify_format() reads.
inline constexpr std::size_t kFormatHead = 512;

/// The format that a file's first bytes show; the file's name does not matter. Throws InputError,
/// saying what the file seems to be and which formats are read.
ImageFormat identify_format(Bytes head);

/// The formats that are read, as messages list them: "JPEG, PNG, ... and GIF".
const std::string& format_names();

/// Whether a TIFF file is a camera's raw file (DNG, NEF, ARW, CR2 and others): one of its
/// directories holds what a sensor saw (ISO 12234-2). `file`: all of it.
bool is_raw_tiff(Bytes file);

}  // namespace diacut
