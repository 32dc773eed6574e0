#pragma once

#include "diacut/image.hpp"
#include "diacut/labels.hpp"
#include "diacut/parameters.hpp"
#include "diacut/segmenter.hpp"

namespace diacut::testing {

/// An image with one value everywhere.
Image flat_image(int width, int height, int channels, float value);

/// Two discs of different colours on a background of a third colour, with a little noise.
Image two_discs(int width, int height);

/// Direct cuts by the eigenvectors, with boundaries by the gradient.
Parameters direct_cuts();

/// The background and each disc of two_discs() have labels of their own, but for the pixels near
/// the boundaries.
void expect_discs_found(const Labels& labels);

/// Both have equal labels and eigenvectors, found by as many products.
void expect_same(const Segmentation& a, const Segmentation& b);

}  // namespace diacut::testing
