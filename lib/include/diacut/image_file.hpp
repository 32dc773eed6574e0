#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "diacut/image.hpp"

/// @file
/// Image files: their formats, and those that hold more than one image.
namespace diacut {

/// The part of a file that is read.
struct ImagePart {
  /// The page of a TIFF file, frame of an animation, or picture of a collection, from 1. 0: the
  /// first, with a note in Image::notes where there are more.
  int page = 0;
  /// The channel, which then is read as grey, by its number from 1 or by the name that an OME-TIFF
  /// gives it. Empty: grey or colours as the file has them. In a file whose channels are pages (an
  /// OME-TIFF, an ImageJ stack), the pages are counted within the channel.
  std::string channel = {};
};

/// What the header of a file tells of an image's size.
struct ImageSize {
  int width = 0;     ///< Width, pixels; the height, where the image is to be turned upright.
  int height = 0;    ///< Height, pixels; the width, where the image is to be turned upright.
  int channels = 3;  ///< 1: grey; 3: colour, or not known before decoding.
  std::uint64_t file_bytes = 0;  ///< Of the file, which is in memory while it is decoded.
};

/// Looks at an image's size as soon as it is known, before memory is taken for the image. What it
/// throws ends the reading. It is called in the thread that reads, once or several times; of a file
/// of 16 MiB or more first with nothing in memory but the pages of the file that tell the size.
using SizeCheck = std::function<void(const ImageSize&)>;

/// Starts the sandbox in which images are decoded where ImageParameters::untrusted says so, once.
/// Without a call, the first such image starts it. The sandbox is a copy of the process at this
/// time: a program calls this before it has threads, and before it has secrets in memory. Throws
/// InputError when the system has no sandboxes.
void start_sandbox();

/// Reads one image of a file: JPEG, PNG, HEIC, AVIF, JPEG XL, JPEG 2000, WebP, TIFF, raw camera
/// files (DNG and others), GIF, BMP or PNM; 1 to 16 bits, and of some formats 32 bits and floats.
/// The orientation that the file tells is applied, and colours of 8 and 16 bits are brought from
/// the file's colour profile to sRGB. `path`: "-" reads standard input to its end.
/// `accepts` throws where the image's size is not accepted; empty: every size is. Throws InputError
/// naming the file when it cannot be read or decoded, or has no such part. Throws Error whatever
/// `accepts` throws.
Image read_image(const std::string& path, const ImageParameters& parameters, const ImagePart& part,
                 const SizeCheck& accepts = {});

/// Decodes the bytes of an image file, as read_image() does. `accepts`: as read_image() takes it.
/// Throws InputError naming the image when it cannot be decoded, or has no such part. Throws Error
/// whatever `accepts` throws.
Image decode_image(const std::vector<std::uint8_t>& bytes, const std::string& name,
                   const ImageParameters& parameters, const ImagePart& part,
                   const SizeCheck& accepts = {});

/// The number of pages, frames or pictures that a file holds. Of most formats it reads only the
/// parts of the file that tell. `channel`: the channel whose pages are counted, as
/// ImagePart::channel has it. Returns the number, at least 1. Throws InputError naming the file
/// when it cannot be read, is no image file, cannot be decoded, or has no such channel.
int count_pages(const std::string& path, const ImageParameters& parameters,
                const std::string& channel = {});

/// One channel of a picture, in the numbers that its file stores.
struct Channel {
  std::string name;            ///< "grey", "red", "DAPI", "2", ...
  int width = 0;               ///< Width, pixels.
  int height = 0;              ///< Height, pixels.
  std::vector<double> values;  ///< Row by row from the top left; not finite: no data.
};

/// The size of a pixel.
struct PixelSize {
  double width = 0;       ///< In `unit`; 0: not known.
  double height = 0;      ///< In `unit`.
  std::string unit = {};  ///< "um", or of scenes "m".
};

/// What a file tells of a picture beside its samples.
struct PictureFacts {
  /// The channels that are read one by one, by their names or numbers; empty: grey or colours.
  std::vector<std::string> channels;
  bool planes = false;  ///< Whether each channel has pages of its own.
  PixelSize pixel;      ///< By OME-XML, ImageJ or the resolution of a TIFF file.
  double spacing = 0;   ///< From slice to slice, in the unit of `pixel`; 0: not known.
  /// How the pages of one channel are numbered: "ZT" if slices follow each other fastest.
  std::string order = "ZT";
  int slices = 0;       ///< 0: not known.
  int frames = 0;       ///< 0: not known.
  bool is_ome = false;  ///< Whether OME-XML tells, else ImageJ or nobody.
};

/// A file in memory, for reading several of its pages. Threads may read from one file.
class ImageFile {
 public:
  /// Reads all bytes of a file. `path`: "-" reads standard input to its end. Throws
  /// InputError naming the file when it cannot be read or is no image file.
  explicit ImageFile(const std::string& path);

  /// Decodes one image, as decode_image() does. `accepts`: as read_image() takes it. Throws
  /// InputError naming the file when it cannot be decoded, or has no such part. Throws Error
  /// whatever `accepts` throws.
  Image read(const ImageParameters& parameters, const ImagePart& part,
             const SizeCheck& accepts = {}) const;

  /// What the file tells of its pictures. Returns of a TIFF file what its tags and its description
  /// say, else nothing. Throws InputError naming the file when it is damaged.
  PictureFacts facts(const ImageParameters& parameters) const;

  /// Reads channels one by one in the numbers that the file stores, upright, each page or sample as
  /// ImagePart has it. `parameters`: how the file is read; nothing is stretched. `part`: what of
  /// the file was read as the picture. `wanted`: names or numbers of channels, by commas; "all";
  /// empty: those of the picture. Throws InputError naming the file when it cannot be decoded, or
  /// has no such channel.
  void read_channels(const ImageParameters& parameters, const ImagePart& part,
                     const std::string& wanted, const std::function<void(Channel&&)>& visit) const;

  /// The file's bytes. Returns all of them; they live as long as the object.
  const std::vector<std::uint8_t>& bytes() const { return bytes_; }

 private:
  std::vector<std::uint8_t> bytes_;
  std::string name_;
};

/// The extensions that files of the formats that read_image() knows have, in lower case with the
/// dot. The format of a file is told from its first bytes, whatever its name. Returns the
/// extensions, ".jpg" first.
const std::vector<std::string>& image_extensions();

/// From now on sandboxes (ImageParameters::untrusted) are started as this program, which has to
/// call serve_sandbox(), in place of a copy of the process. A process that has threads, or secrets
/// in memory, can start such a program at any time. It starts with the first such image. `path`:
/// the program's file; empty: a copy of the process again.
void use_sandbox_program(const std::string& path);

/// What the program that use_sandbox_program() names does: it decodes the images that the process
/// asks for which started it, each in a process of its own, until that process ends. Returns the
/// exit code of the program, where nothing asks it to decode; otherwise it does not return.
int serve_sandbox();

}  // namespace diacut
