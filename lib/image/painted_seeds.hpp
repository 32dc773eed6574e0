#pragma once

#include "diacut/seeds.hpp"
#include "image/decoded.hpp"

namespace diacut {

/// Whether a picture has colours, or transparent pixels beside others in more than one channel.
bool is_painted(const Decoded& picture);

/// The seeds that somebody painted; see read_seeds(). Throws InputError where there are more
/// colours than somebody paints with.
Seeds painted_seeds(const Decoded& picture);

}  // namespace diacut
