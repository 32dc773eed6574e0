#pragma once

#include <cstdint>
#include <opencv2/core.hpp>
#include <vector>

#include "diacut/image.hpp"
#include "diacut/labels.hpp"
#include "diacut/output.hpp"

namespace diacut {

/// An image in 8 bits as red, green, blue; grey values become three equal values. Pixels without
/// data show a grey checkerboard.
cv::Mat3b to_rgb(const Image& image);

/// The colour of the outlines of regions: red, green, blue.
inline const cv::Vec3b kOutline(255, 236, 64);

/// 255 where the right or lower neighbour has another label.
cv::Mat1b boundary_mask(const Labels& labels);

/// A picture (red, green, blue) as the bytes of a file.
std::vector<std::uint8_t> encode_rgb(const cv::Mat3b& rgb, PictureFormat format);
/// Of at most 65500 pixels a side.
std::vector<std::uint8_t> encode_jpeg(const cv::Mat3b& rgb);

}  // namespace diacut
