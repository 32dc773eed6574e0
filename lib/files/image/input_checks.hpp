#pragma once

#include <string>
#include <vector>

#include "diacut/boundary_map.hpp"
#include "diacut/features.hpp"
#include "diacut/seeds.hpp"
#include "image/resize.hpp"

namespace diacut {

/// What messages add to two sizes that differ, where the one is the other one turned.
inline std::string turned_hint(int width, int height, int other_width, int other_height) {
  if (width != other_height || height != other_width) return {};
  return " (one of them is turned: a picture is read upright, as its EXIF orientation says)";
}

/// Throws InputError unless the map is one of an image of width x height pixels, and its values lie
/// in [0, 1].
void check_boundary_map(const BoundaryMap& map, int width, int height);

/// Throws InputError when features are not as FeatureMap says, or have one value in each channel.
void check_features(const FeatureMap& features);

/// Throws InputError unless each label has a number in [0, 1] for each pixel.
void check_probabilities(const Probabilities& probabilities);

/// Channels `first` to `first` + `count` - 1 of features, one plane after the other, each
/// size.width * size.height values, row by row: interpolated bilinearly where `size` is larger than
/// the map, and the mean of the area that a pixel covers where it is smaller. Precondition: the
/// features are as check_features() wants them, and have these channels.
std::vector<float> feature_planes(const FeatureMap& features, int first, int count,
                                  const PictureSize& size);

/// Whether features may belong to an image: neither side is larger than the image's, and there is a
/// factor by which the image's width and height were both divided, up to less than a pixel of the
/// features. `width`, `height`: of the image, pixels.
bool features_fit(const FeatureSize& features, int width, int height);

}  // namespace diacut
