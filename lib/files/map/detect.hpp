#pragma once

#include <string>

namespace diacut {

/// Whether a file is a TIFF, without tags of a map, whose stored samples are what the picture
/// shows: grey with 0 for black, or red, green and blue, upright and without a colour profile.
/// False where it cannot be read.
bool is_plain_tiff(const std::string& path);

/// Whether a file beside this one says where it lies, or what no data is: a world file, or one of
/// GDAL's (.aux.xml).
bool is_placed_beside(const std::string& name);

/// Whether GDAL has a driver that would read a file.
bool gdal_knows(const std::string& name);

}  // namespace diacut
