#include "image/planes.hpp"

#include <algorithm>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

namespace diacut {

namespace {

/// Gives each pixel without data the value of the nearest one with data.
void fill_from_nearest(cv::Mat& pixels, const std::vector<std::uint8_t>& valid) {
  cv::Mat without_data(pixels.rows, pixels.cols, CV_8U);
  std::transform(valid.begin(), valid.end(), without_data.ptr<std::uint8_t>(),
                 [](std::uint8_t data) { return std::uint8_t{data == 0}; });
  cv::Mat distance;
  cv::Mat nearest;
  cv::distanceTransform(without_data, distance, nearest, cv::DIST_L2, cv::DIST_MASK_5,
                        cv::DIST_LABEL_PIXEL);
  // Every pixel with data has a label of its own, and lends it to those it is nearest to.
  const int* labels = nearest.ptr<int>();
  const std::size_t count = valid.size();
  std::vector<std::size_t> pixel_of(count + 1, 0);
  for (std::size_t i = 0; i < count; ++i) {
    if (valid[i] != 0) pixel_of[static_cast<std::size_t>(labels[i])] = i;
  }
  const auto channels = static_cast<std::size_t>(pixels.channels());
  float* values = pixels.ptr<float>();
  for (std::size_t i = 0; i < count; ++i) {
    if (valid[i] != 0) continue;
    const std::size_t from = pixel_of[static_cast<std::size_t>(labels[i])];
    std::copy_n(values + from * channels, channels, values + i * channels);
  }
}

}  // namespace

std::vector<float> srgb_planes(const Image& image, int width, int height, int border) {
  const int outer_width = width + 2 * border;
  const int outer_height = height + 2 * border;
  const std::size_t count =
      static_cast<std::size_t>(outer_width) * static_cast<std::size_t>(outer_height);
  std::vector<float> planes(3 * count, 0.0f);
  cv::Mat pixels(image.height, image.width, CV_32FC(image.channels));
  std::copy(image.pixels.begin(), image.pixels.end(), pixels.ptr<float>());
  const auto has_data = [](std::uint8_t data) { return data != 0; };
  if (!image.valid.empty()) {
    if (std::none_of(image.valid.begin(), image.valid.end(), has_data)) return planes;
    if (!std::all_of(image.valid.begin(), image.valid.end(), has_data)) {
      fill_from_nearest(pixels, image.valid);
    }
  }
  if (width != image.width || height != image.height) {
    const bool shrinks = width < image.width || height < image.height;
    cv::Mat resized;
    cv::resize(pixels, resized, {width, height}, 0, 0, shrinks ? cv::INTER_AREA : cv::INTER_CUBIC);
    // Cubic interpolation overshoots.
    pixels = cv::min(cv::max(resized, 0.0), 1.0);
  }
  if (border > 0) {
    cv::Mat bordered;
    cv::copyMakeBorder(pixels, bordered, border, border, border, border, cv::BORDER_REFLECT);
    pixels = bordered;
  }
  for (int channel = 0; channel < 3; ++channel) {
    cv::Mat plane(outer_height, outer_width, CV_32F,
                  planes.data() + static_cast<std::size_t>(channel) * count);
    cv::extractChannel(pixels, plane, std::min(channel, image.channels - 1));
  }
  return planes;
}

}  // namespace diacut
