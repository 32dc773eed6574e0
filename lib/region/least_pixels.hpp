#pragma once

#include <cstdint>

#include "diacut/parameters.hpp"

namespace diacut {

/// parameters.min_size in pixels, for a picture in which `pixels` pixels have data.
std::int64_t least_pixels(const RegionParameters& parameters, std::int64_t pixels);

}  // namespace diacut
