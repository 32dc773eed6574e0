#pragma once

#include "diacut/image.hpp"
#include "image/decoded.hpp"

namespace diacut {

/// Brings the samples of an upright picture into [0, 1], as ImageParameters::range says, and marks
/// which pixels have no data. The notes of the result are those of `decoded`, then what a person
/// should know of the values. Throws InputError where no pixel has data, or where floats do not lie
/// in the range that was asked for.
Image to_image(const Decoded& decoded, ValueRange rule);

}  // namespace diacut
