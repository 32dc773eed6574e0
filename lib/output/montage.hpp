#pragma once

#include <cstdint>
#include <opencv2/core.hpp>
#include <string>
#include <vector>

namespace diacut {

/// A picture of a montage, as large as it is shown, and the line of text under it.
struct MontagePicture {
  cv::Mat3b picture;
  std::string caption;
};

/// Large pictures are shown smaller than they are, tiny ones larger.
MontagePicture montage_picture(const cv::Mat3b& picture, const std::string& caption);

/// Pictures that were of width x height pixels in a grid, as the bytes of a PNG. Without pictures
/// it shows a text that says so.
std::vector<std::uint8_t> encode_montage(int width, int height,
                                         const std::vector<MontagePicture>& pictures);

}  // namespace diacut
