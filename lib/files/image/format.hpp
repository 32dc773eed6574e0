#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "image/decoded.hpp"

namespace diacut {

/// A format that is read.
struct ImageFormat {
  /// What a file can hold beside one picture.
  enum Holds : unsigned {
    kPicture = 0,
    kPages = 1,
    kChannels = 2,  ///< More than are decoded without a choice, which the decoder makes.
    kNumbers = 4,   ///< That programs which write it keep as they are.
    kPlace = 8,     ///< Coordinates, which make it a scene.
  };

  std::string_view id;                          ///< Its decoder is in decode_ID.cpp.
  std::string_view name;                        ///< As messages list it.
  std::string_view extensions;                  ///< Of its files: ".jpg .jpeg".
  unsigned holds;                               ///< Of Holds.
  Decoder* decoder;                             ///< Null: the module has it (formats/calls.hpp).
  std::array<std::string_view, 10> beginnings;  ///< Of its files; ? is any byte.
  bool (*matches)(Bytes head) = nullptr;        ///< Where beginnings do not show it.

  bool may_hold(Holds what) const { return (holds & what) != 0; }
};

/// All formats, in the order of messages.
std::span<const ImageFormat> image_formats();
/// Their names: "JPEG, PNG, ... and PNM".
std::string image_format_names();
/// Precondition: there is a format of this id.
const ImageFormat& image_format(std::string_view id);

/// The number of a file's first bytes that identify_format() reads.
inline constexpr std::size_t kFormatHead = 512;

/// The format that a file's first bytes show; the file's name does not matter. Raw camera files
/// that are TIFF count as such. Throws InputError, saying what the file seems to be and which
/// formats are read.
const ImageFormat& identify_format(Bytes head);

/// The format of a file by all of its bytes. Throws as identify_format() does.
const ImageFormat& format_of(Bytes file);

}  // namespace diacut
