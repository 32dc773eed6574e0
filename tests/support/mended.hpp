#pragma once

#include "image_files.hpp"

/// Changed files whose checksums are made right again, so that readers look at what was changed.
namespace diacut::testing {

/// The checksum of each chunk of a PNG.
FileBytes mended_png(FileBytes file);

/// The checksum at the end of a hierarchy.
FileBytes mended_tree(FileBytes file);

/// The checksum of each stored member of a ZIP archive.
FileBytes mended_zip(FileBytes file);

}  // namespace diacut::testing
