#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "diacut/image.hpp"

/// @file
/// Image files that hold more than one image, and the sandbox that decodes them.
namespace diacut {

/// Starts the sandbox that decodes images with ImageParameters::untrusted: a process that may only
/// compute and take memory. It cannot open a file; a socket, another program or the like ends it
/// (Linux's seccomp). Without this call the first such image starts it. It is a copy of the process
/// at this time: call this before your program has threads or secrets in memory. Throws InputError
/// when the system has no sandboxes.
void start_sandbox();

/// The number of pages, frames or pictures in a file, at least 1. For most formats it reads only
/// the parts of the file that hold the number. `channel`: counts the pages of this channel
/// (ImagePart::channel). Throws InputError naming the file when it cannot be read or decoded, or
/// has no such channel.
int count_pages(const std::string& path, const ImageParameters& parameters,
                const std::string& channel = {});

/// One channel of a picture, with the values that its file stores.
struct Channel {
  std::string name;            ///< "grey", "red", "DAPI", "2", ...
  int width = 0;               ///< Width, pixels.
  int height = 0;              ///< Height, pixels.
  std::vector<double> values;  ///< Row by row from the top left; NaN or infinite: no data.
};

/// The size of a pixel.
struct PixelSize {
  double width = 0;       ///< Width in `unit`; 0: not known.
  double height = 0;      ///< Height in `unit`.
  std::string unit = {};  ///< "um"; "m" for scenes.
};

/// What a file says about a picture, beside its samples.
struct PictureFacts {
  /// The channels' names, all different, if they are read one by one; empty: read as colours.
  std::vector<std::string> channels = {};
  int channel = 0;  ///< The channel of this page, from 1; 0: the page holds all channels.
  /// If `channel` is not 0: the page of each channel at the same place, from 1; 0: none.
  std::vector<int> pages = {};
  PixelSize pixel = {};  ///< From OME-XML, ImageJ or a TIFF's resolution; scenes: on the ground.
  double spacing = 0;    ///< Distance of slices, in the unit of `pixel`; 0: not known.
  int slices = 0;        ///< Number of slices; 0: not known.
  int frames = 0;        ///< Number of frames; 0: not known.
  int slice = 0;         ///< Slice of this page, from 0.
  int frame = 0;         ///< Frame of this page, from 0.
  int image = 0;         ///< Image of this page in the file's description, from 0.
  bool is_ome = false;   ///< Whether these come from OME-XML.
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

  /// What the tags and the description of a TIFF file say about a part of it; empty for other
  /// formats. Throws InputError naming the file when it is damaged.
  PictureFacts facts(const ImageParameters& parameters, const ImagePart& part = {}) const;

  /// Reads channels one by one, upright, with the values that the file stores. `parameters`: how to
  /// read the file; values are not scaled. `part`: the part that was read as the picture. `wanted`:
  /// names or numbers of channels, separated by commas (names may contain commas); "all"; empty:
  /// those of the picture. Throws InputError naming the file when it
  /// cannot be decoded, or has no such channel.
  void read_channels(const ImageParameters& parameters, const ImagePart& part,
                     const std::string& wanted, const std::function<void(Channel&&)>& visit) const;

  /// The file's bytes; they live as long as the object.
  const std::vector<std::uint8_t>& bytes() const { return bytes_; }

 private:
  std::vector<std::uint8_t> bytes_;
  std::string name_;
};

/// The extensions of the formats that read_image() reads, in lower case with the dot, ".jpg" first.
/// The first bytes of a file decide its format, not its name.
const std::vector<std::string>& image_extensions();

/// From now on a sandbox is this program, which has to call serve_sandbox(), instead of a copy of
/// the process. Your process may then have threads, or secrets in memory. The program starts with
/// the first untrusted image. `path`: the program's file; empty: a copy of the process again.
void use_sandbox_program(const std::string& path);

/// To be called by the program that use_sandbox_program() names. It decodes images for the process
/// that started it, each in a new process, until that process ends. It returns only if nothing asks
/// it to decode, with the exit code of the program.
int serve_sandbox();

}  // namespace diacut
