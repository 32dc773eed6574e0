#include "turned_picture.hpp"

namespace diacut::testing {

cv::Mat turned(const cv::Mat& picture, int rotation, bool mirrored) {
  cv::Mat result = picture.clone();
  if (rotation >= 0) cv::rotate(picture, result, rotation);
  if (mirrored) cv::flip(result.clone(), result, 1);
  return result;
}

Image image_of(const cv::Mat& picture) {
  Image image{picture.cols, picture.rows, 3, {}, {}, {}};
  image.pixels.assign(picture.ptr<float>(), picture.ptr<float>() + picture.total() * 3);
  return image;
}

}  // namespace diacut::testing
