#pragma once

#include <cstddef>

#include "diacut/image.hpp"

namespace diacut::testing {

/// An image of one channel and one value.
Image grey_image(int width, int height, float value = 0.0f);

/// Noise over patches of flat colour: boundaries of every strength and direction.
Image patches_image(int width, int height, int channels, unsigned seed);

/// Independent uniform values in [0, 1].
Image noise_image(int width, int height, int channels, unsigned seed);

/// Makes a pixel one without data, and its values 0.
void mask_out(Image& image, std::size_t pixel);

}  // namespace diacut::testing
