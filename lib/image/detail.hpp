#pragma once

#include <cstdint>
#include <vector>

#include "diacut/image.hpp"
#include "image/resize.hpp"

namespace diacut {

/// The size of detail_picture() of an image of the size `full`. Precondition: `found` is not
/// larger.
PictureSize detail_size(const PictureSize& full, const PictureSize& found);

/// What detail_levels() reads of an image in which boundaries are placed that were found in the
/// image reduced to the size `found`: the image reduced to twice that size. Precondition: `found`
/// is not larger than the image.
Image detail_picture(const Image& image, const PictureSize& found);

/// How fast the colours of an image of the size `full` change at each pixel: the gradient of a
/// Gaussian whose standard deviation is half a pixel of the size `found`, in the colours of CIE
/// Lab, in quarters of a Lab unit per pixel of that size, at most 255. It is computed at the size
/// of the detail picture, which is as fine as that Gaussian, and interpolated. Pixels without data
/// take the colours of the nearest pixel with data. full.width * full.height values, row by row.
std::vector<std::uint8_t> detail_levels(Image detail, const PictureSize& found,
                                        const PictureSize& full);

}  // namespace diacut
