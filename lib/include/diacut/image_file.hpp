#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "diacut/image.hpp"

/// @file
/// Image files that hold more than one image, and the sandbox that decodes them.
namespace diacut {

/// Starts the sandbox that decodes images where ImageParameters::untrusted says so: a process that
/// may compute and take memory; it cannot open a file, and anything else, as a socket or a program,
/// ends it (Linux's seccomp). Without a call, the first such image starts it. It is a copy of the
/// process at this time: a program calls this before it has threads, and before it has secrets in
/// memory. Throws InputError when the system has no sandboxes.
void start_sandbox();

/// The number of pages, frames or pictures that a file holds, at least 1. Of most formats it reads
/// only the parts of the file that say so. `channel`: whose pages are counted, as
/// ImagePart::channel. Throws InputError naming the file when it cannot be read or decoded, or has
/// no such channel.
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

/// What a file says of a picture beside its samples.
struct PictureFacts {
  /// Names, no two alike, by which channels are read one by one; empty: read as colours.
  std::vector<std::string> channels = {};
  int channel = 0;  ///< That the page is a plane of, from 1; 0: the page holds all of them.
  /// Of such a plane: the page of each channel that lies at the same place, from 1; 0: none.
  std::vector<int> pages = {};
  PixelSize pixel = {};  ///< By OME-XML, ImageJ or the resolution of a TIFF file; of scenes on
                         ///< the ground.
  double spacing = 0;    ///< From slice to slice, in the unit of `pixel`; 0: not known.
  int slices = 0;        ///< 0: not known.
  int frames = 0;        ///< 0: not known.
  int slice = 0;         ///< That the page is, from 0.
  int frame = 0;         ///< That the page is of, from 0.
  int image = 0;         ///< Of the file's description, that the page is of, from 0.
  bool is_ome = false;   ///< Whether OME-XML says so, else ImageJ or nothing.
};

/// A file in memory, for reading several of its pages. Threads may read from one file.
class ImageFile {
 public:
  /// Reads all bytes of a file. `path`: as read_image() takes it. Throws InputError naming the file
  /// when it cannot be read or is no image file.
  explicit ImageFile(const std::string& path);

  /// Decodes one image, as decode_image() does.
  Image read(const ImageParameters& parameters, const ImagePart& part,
             const SizeCheck& accepts = {}) const;

  /// What the tags and the description of a TIFF file say of a part of it; nothing of another
  /// file. Throws InputError naming the file when it is damaged.
  PictureFacts facts(const ImageParameters& parameters, const ImagePart& part = {}) const;

  /// Reads channels one by one in the numbers that the file stores, upright, each page or sample as
  /// ImagePart has it. `parameters`: how the file is read; nothing is stretched. `part`: what of
  /// the file was read as the picture. `wanted`: names or numbers of channels, by commas, which
  /// names may hold; "all"; empty: those of the picture. Throws InputError naming the file when it
  /// cannot be decoded, or has no such channel.
  void read_channels(const ImageParameters& parameters, const ImagePart& part,
                     const std::string& wanted, const std::function<void(Channel&&)>& visit) const;

  /// The file's bytes; they live as long as the object.
  const std::vector<std::uint8_t>& bytes() const { return bytes_; }

 private:
  std::vector<std::uint8_t> bytes_;
  std::string name_;
};

/// The extensions of the formats that read_image() knows, in lower case with the dot, ".jpg" first.
/// The format of a file is found from its first bytes, whatever its name.
const std::vector<std::string>& image_extensions();

/// From now on sandboxes are started as this program, which has to call serve_sandbox(), in place
/// of a copy of the process, so that a process may have threads, or secrets in memory. It starts
/// with the first untrusted image. `path`: the program's file; empty: a copy of the process again.
void use_sandbox_program(const std::string& path);

/// What the program that use_sandbox_program() names does: it decodes the images that the process
/// asks for which started it, each in a process of its own, until that process ends. It returns,
/// with the exit code of the program, only where nothing asks it to decode.
int serve_sandbox();

}  // namespace diacut
