#pragma once

#include <string_view>

#include "image/decoded.hpp"

namespace diacut {

/// In the order of messages.
enum class ImageFormat {
  kJpeg,
  kPng,
  kHeif,
  kJxl,
  kJpeg2000,
  kWebp,
  kTiff,
  kRaw,
  kGif,
  kBmp,
  kPnm
};

/// What is known of a format that is read, but for the first bytes of its files.
struct ImageFormatInfo {
  ImageFormat format;
  std::string_view name;        ///< As messages list it.
  std::string_view extensions;  ///< Of its files: ".jpg .jpeg".
  bool has_pages;               ///< Whether a file can hold several.
  Decoder* decode;
};
const ImageFormatInfo& info_of(ImageFormat format);

/// The number of a file's first bytes that identify_format() reads.
inline constexpr std::size_t kFormatHead = 512;

/// The format that a file's first bytes show; the file's name does not matter. Throws InputError,
/// saying what the file seems to be and which formats are read.
ImageFormat identify_format(Bytes head);

/// Whether a TIFF file is a camera's raw file (DNG, NEF, ARW, CR2 and others): one of its
/// directories holds what a sensor saw (ISO 12234-2). `file`: all of it.
bool is_raw_tiff(Bytes file);

}  // namespace diacut
