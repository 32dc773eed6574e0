#pragma once

#include <cstdint>
#include <vector>

#include "diacut/image.hpp"
#include "diacut/labels.hpp"
#include "diacut/parameters.hpp"
#include "diacut/segmenter.hpp"

namespace diacut::testing {

/// An image with one value everywhere.
Image flat_image(int width, int height, int channels, float value);

/// Two discs of different colours on a background of a third colour, with a little noise.
Image two_discs(int width, int height);

/// A Segmenter on test_device() whose results hold eigenvectors.
Segmenter keeping_eigenvectors(const Parameters& parameters = {});

/// The part of two_discs() at pixel (x, y): 0 for the background, 1 and 2 for the discs, -1 within
/// `margin` pixels of the boundary of a disc.
int scene(int x, int y, int width, int height, double margin = 0);

/// The label of most pixels of a part of the scene, and the share of the part that has the label.
struct Majority {
  std::int32_t label = 0;
  double share = 0;
};
/// One entry for each part of two_discs(); pixels within 2 pixels of a boundary are not counted.
std::vector<Majority> majorities(const Labels& labels);

/// Direct cuts by the eigenvectors, with boundaries by the gradient.
Parameters direct_cuts();

/// The background and each disc of two_discs() have labels of their own, but for the pixels near
/// the boundaries.
void expect_discs_found(const Labels& labels);

/// Both have equal labels and eigenvectors, found by as many products.
void expect_same(const Segmentation& a, const Segmentation& b);

/// Empty of direct cuts and of seeds.
std::vector<float> contours_of(const Segmentation& result);

}  // namespace diacut::testing
