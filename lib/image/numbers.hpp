#pragma once

#include <string>

#include "diacut/image.hpp"

namespace diacut {

/// Reads an image whose values are numbers and no colours, as read_image() does, but without the
/// file's colour profile.
Image read_numbers(const std::string& path, const ImageParameters& parameters);

}  // namespace diacut
