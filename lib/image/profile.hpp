#pragma once

#include <opencv2/core.hpp>
#include <optional>

#include "image/decoded.hpp"

namespace diacut {

/// Brings samples of 8 or 16 bits from the colours of Decoded::profile to sRGB, by relative
/// colorimetric intent with black point compensation (ICC.1:2010). Samples stay to the last bit
/// where there is no profile, or one that is sRGB to within a step of 8 bits. A profile that cannot
/// be used is told in the notes, and the samples count as sRGB. Precondition: the samples have
/// their final number of channels.
void apply_profile(Decoded& decoded);

/// CMYK of 8 bits in the colours of an ICC profile as sRGB; nothing if the profile is none for
/// CMYK. `is_inverted`: 255 is no ink, as Adobe's programs store it.
std::optional<cv::Mat> rgb_of_cmyk(const cv::Mat& cmyk, bool is_inverted, Bytes profile);

}  // namespace diacut
