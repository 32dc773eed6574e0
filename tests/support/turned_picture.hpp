#pragma once

#include <opencv2/core.hpp>

#include "diacut/image.hpp"

namespace diacut::testing {

/// The picture turned by OpenCV: `rotation` as cv::rotate() takes it, -1 for none; then mirrored
/// left to right if `mirrored`.
cv::Mat turned(const cv::Mat& picture, int rotation, bool mirrored);

/// The image of a continuous picture of type CV_32FC3.
Image image_of(const cv::Mat& picture);

}  // namespace diacut::testing
