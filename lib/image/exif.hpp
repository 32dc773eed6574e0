#pragma once

#include "image/bytes.hpp"

namespace diacut {

/// The orientation (1 to 8, as EXIF 2.3 numbers them: 1 is upright) in an EXIF block, with or
/// without the "Exif\0\0" that JPEG puts before it. 1 where the block has no orientation or a
/// number that is none.
int exif_orientation(Bytes block);

}  // namespace diacut
