#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

/// @file
/// Images, and functions that read them from files.
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
  /// For the user: how the file was read ("16 of 300 pixels are not finite: ...").
  std::vector<std::string> notes;
  bool is_damaged = false;  ///< Whether damaged parts were filled in (ImageParameters::damaged).

  /// The number of pixels, with and without data.
  std::size_t pixel_count() const {
    return static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  }
  /// Whether this pixel, counted as in `valid`, has data.
  bool has_data(std::size_t pixel) const { return valid.empty() || valid[pixel] != 0; }
};

/// How stored values are scaled to [0, 1].
struct ValueRange {
  /// The rule that scales them.
  enum Rule {
    kAuto,    ///< kType for integers and floats in [0, 1] that fill half of it, else kRobust.
    kType,    ///< The least value of the type becomes 0, the largest 1; floats must be in [0, 1].
    kData,    ///< The least value with data becomes 0, the largest 1, all channels together.
    kRobust,  ///< As kData, ignoring a thousandth of the values at either end.
    kLimits,  ///< `low` becomes 0, `high` 1; values beyond them are clipped.
  };
  /// A rule. Implicit, because most rules have no numbers.
  constexpr ValueRange(Rule by = kAuto, double least = 0, double greatest = 0)
      : rule(by), low(least), high(greatest) {}

  Rule rule;    ///< The rule.
  double low;   ///< Of kLimits.
  double high;  ///< Of kLimits; above `low`.
  /// Compares rules and limits.
  bool operator==(const ValueRange&) const = default;
};

/// How image files are read. configs/default.toml describes the members in full, in `[image]`.
struct ImageParameters {
  ValueRange range = {};                  ///< How stored values are scaled to [0, 1].
  std::int64_t max_pixels = 268'435'456;  ///< Images of more pixels are refused before decoding.
  int detail = 640;            ///< Longer side of the reduced image, pixels; 0: no reduction.
  bool untrusted = false;      ///< Whether files are decoded in a sandboxed process.
  int decoding_memory = 4096;  ///< Memory limit of that process, MiB.
  bool damaged = false;        ///< Whether to read JPEG files that are damaged inside.
  int decoding_seconds = 60;   ///< Time limit of that process for an image, seconds.
};

/// The part of a file that is read.
struct ImagePart {
  /// The page of a TIFF file, frame of an animation, or picture of a collection, from 1. 0: the
  /// first, with a note in Image::notes if there are more.
  int page = 0;
  /// The channel to read as grey: its number from 1, or its name in an OME-TIFF. Empty: grey or
  /// colours as the file has them. If channels are pages (OME-TIFF, ImageJ stacks), `page` counts
  /// the pages of the channel.
  std::string channel = {};
};

/// An image's size, from the header of its file.
struct ImageSize {
  int width = 0;                 ///< Width as stored, before the orientation is applied, pixels.
  int height = 0;                ///< Height as stored, pixels.
  int channels = 3;              ///< 1: grey; 3: colour, or not known before decoding.
  std::uint64_t file_bytes = 0;  ///< Size of the file, which is in memory during decoding.
};

/// Accepts or refuses an image by its size, before memory is allocated for it: an exception that it
/// throws ends the reading. It is called in the reading thread, once or several times; for a file
/// of 16 MiB or more first when only the pages of the file that hold the size are in memory.
using SizeCheck = std::function<void(const ImageSize&)>;

/// Reads one image of a file in one of the formats that docs/usage.md lists (image_extensions() has
/// their extensions), grey or colour, with or without alpha (pixels with an alpha below half of its
/// range have no data); 1 to 16 bits, in some formats 32 bits and floats. Applies the orientation
/// that the file names, and converts colours of 8 and 16 bits from the file's colour profile to
/// sRGB. `path`: "-" reads standard input to its end. `accepts`: empty accepts every size. Throws
/// InputError naming the file when it cannot be read or decoded, or has no such part, and whatever
/// `accepts` throws.
Image read_image(const std::string& path, const ImageParameters& parameters = {},
                 const ImagePart& part = {}, const SizeCheck& accepts = {});

/// Decodes the bytes of an image file, as read_image() does. `name`: its name in messages.
Image decode_image(const std::vector<std::uint8_t>& bytes, const std::string& name,
                   const ImageParameters& parameters = {}, const ImagePart& part = {},
                   const SizeCheck& accepts = {});

}  // namespace diacut
