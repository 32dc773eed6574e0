#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "diacut/image.hpp"

namespace diacut {

/// Width and height of a picture, pixels.
struct PictureSize {
  int width = 0;
  int height = 0;

  std::size_t pixels() const {
    return static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  }
  bool operator==(const PictureSize&) const = default;
};

/// The longer side of a picture, pixels. A picture that is more than twice as long as it is wide
/// counts as a picture of 2:1 with its area, because a long strip has small objects.
double longer_side(const PictureSize& picture);

/// The size of a picture whose longer_side() is reduced to at most `side`, in the picture's
/// proportions, both sides at least 1. A picture is never enlarged. `side` 0: the picture's size.
PictureSize reduced_size(const PictureSize& picture, int side);

/// The image with each pixel the mean of the area of the original image that it covers, of pixels
/// with data only. A pixel has data where any of that area has. Preconditions: `image` is as Image
/// says, and neither side of `size` is larger than the image's. An image that has this size already
/// is returned unchanged.
Image reduced(const Image& image, const PictureSize& size);

/// A map of from.width * from.height values, row by row, interpolated bilinearly to the size `to`.
/// 0 where `valid` is 0; `valid` is empty or has a value for each pixel of `to`.
std::vector<float> enlarged(const std::vector<float>& map, const PictureSize& from,
                            const PictureSize& to, const std::vector<std::uint8_t>& valid = {});

/// The largest value of each area of a map that a pixel of the smaller map covers: so a thin line
/// keeps its strength. Both maps are row by row. Precondition: `to` is not larger than `from`.
std::vector<float> reduced_by_maximum(const std::vector<float>& map, const PictureSize& from,
                                      const PictureSize& to);

/// The pixels of an image, in its layout, in which each pixel without data has the value of the
/// nearest pixel with data, so that it makes no edge. Where no pixel has data nothing is changed.
std::vector<float> filled_from_nearest(const Image& image);

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
