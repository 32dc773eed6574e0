#pragma once

#include <map>
#include <string>

#include "image_files.hpp"

/// Small whole image files, to be damaged.
namespace diacut::testing {

/// One file of each kind of data in the formats of pictures (JPEG, PNG, BMP, WebP, TIFF), by its
/// name.
std::map<std::string, FileBytes> whole_files();

/// The same in the formats of cameras (HEIC, AVIF, JPEG XL, JPEG 2000, GIF, DNG, PNM).
std::map<std::string, FileBytes> whole_camera_files();

}  // namespace diacut::testing
