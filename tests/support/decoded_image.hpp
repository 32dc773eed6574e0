#pragma once

#include <cstdint>
#include <opencv2/core.hpp>
#include <string>
#include <utility>
#include <vector>

#include "diacut/image.hpp"

namespace diacut::testing {

/// Widths and heights of pictures that decoders are tried with.
inline const std::vector<std::pair<int, int>> kDecodedSizes = {{1, 1}, {1, 7},   {7, 1},
                                                               {2, 2}, {13, 17}, {64, 33}};

/// The picture that `samples` (grey, or red, green, blue; then alpha) stand for, of which `full`
/// is 1.
Image expected_image(const cv::Mat& samples, double full);

/// The image of a file whose values are told by their type alone, however few of them there are.
Image decoded_by_type(const std::vector<std::uint8_t>& file, const std::string& name,
                      ImageParameters parameters = {});

/// Expects sizes and masks to be equal, and values to be so to their last bits or within a bound.
void expect_same(const Image& image, const Image& expected, double bound = 0);

/// Random samples of which at least one pixel is opaque.
cv::Mat samples_with_data(int width, int height, int type);

/// The value that stands for full strength.
double largest(const cv::Mat& samples);

}  // namespace diacut::testing
