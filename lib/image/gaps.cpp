#include "image/gaps.hpp"

#include <algorithm>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

namespace diacut {

std::vector<float> filled_from_nearest(const Image& image) {
  std::vector<float> pixels = image.pixels;
  const auto has_data = [](std::uint8_t data) { return data != 0; };
  if (image.valid.empty() || std::none_of(image.valid.begin(), image.valid.end(), has_data)) {
    return pixels;
  }
  cv::Mat without_data(image.height, image.width, CV_8U);
  std::transform(image.valid.begin(), image.valid.end(), without_data.ptr<std::uint8_t>(),
                 [](std::uint8_t data) { return std::uint8_t{data == 0}; });
  cv::Mat distance;
  cv::Mat nearest;
  cv::distanceTransform(without_data, distance, nearest, cv::DIST_L2, cv::DIST_MASK_5,
                        cv::DIST_LABEL_PIXEL);
  // Every pixel with data has a label of its own, and lends it to those it is nearest to.
  const int* labels = nearest.ptr<int>();
  const std::size_t count = image.pixel_count();
  std::vector<std::size_t> pixel_of(count + 1, 0);
  for (std::size_t i = 0; i < count; ++i) {
    if (image.valid[i] != 0) pixel_of[static_cast<std::size_t>(labels[i])] = i;
  }
  const auto channels = static_cast<std::size_t>(image.channels);
  for (std::size_t i = 0; i < count; ++i) {
    if (image.valid[i] != 0) continue;
    const std::size_t from = pixel_of[static_cast<std::size_t>(labels[i])];
    std::copy_n(image.pixels.data() + from * channels, channels, pixels.data() + i * channels);
  }
  return pixels;
}

}  // namespace diacut
