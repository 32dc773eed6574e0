#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "diacut/errors.hpp"
#include "output/picture.hpp"

namespace diacut {

std::vector<std::uint8_t> encode_jpeg(const cv::Mat3b& rgb) {
  cv::Mat3b bgr;
  cv::cvtColor(rgb, bgr, cv::COLOR_RGB2BGR);
  std::vector<std::uint8_t> bytes;
  if (!cv::imencode(".jpg", bgr, bytes, {cv::IMWRITE_JPEG_QUALITY, 92})) {
    throw InputError("the picture could not be encoded as JPEG; write it as .png");
  }
  return bytes;
}

}  // namespace diacut
