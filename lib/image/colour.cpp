#include "image/colour.hpp"

#include <cmath>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "core/parallel.hpp"

namespace diacut {
namespace {

/// Undoes the sRGB encoding (IEC 61966-2-1).
float linear_light(float encoded) {
  return encoded <= 0.04045f ? encoded / 12.92f : std::pow((encoded + 0.055f) / 1.055f, 2.4f);
}

}  // namespace

std::vector<float> lab_planes(const Image& image) {
  const std::size_t count = image.pixel_count();
  std::vector<float> planes(count * static_cast<std::size_t>(image.channels));
  if (count == 0) return planes;
  // COLOR_RGB2Lab would look colours up in a table of 9 bits a channel, too coarse for 16-bit
  // pictures; from linear light OpenCV computes them.
  cv::Mat linear(image.height, image.width, CV_32FC(image.channels));
  float* light = linear.ptr<float>();
  const std::size_t row = planes.size() / static_cast<std::size_t>(image.height);
  parallel_for(image.height, [&](int y) {
    const std::size_t begin = static_cast<std::size_t>(y) * row;
    for (std::size_t i = begin; i < begin + row; ++i) light[i] = linear_light(image.pixels[i]);
  });
  if (image.channels == 1) cv::cvtColor(linear, linear, cv::COLOR_GRAY2RGB);
  cv::Mat lab;
  cv::cvtColor(linear, lab, cv::COLOR_LRGB2Lab);
  for (int channel = 0; channel < image.channels; ++channel) {
    float* plane = planes.data() + count * static_cast<std::size_t>(channel);
    cv::Mat view(image.height, image.width, CV_32FC1, plane);
    cv::extractChannel(lab, view, channel);
    for (std::size_t i = 0; i < image.valid.size(); ++i) {
      if (image.valid[i] == 0) plane[i] = 0.0f;
    }
  }
  return planes;
}

std::vector<std::uint8_t> lab_bytes(const Image& image) {
  std::vector<std::uint8_t> bytes(image.pixels.size());
  if (bytes.empty()) return bytes;
  // OpenCV wants pointers to what is not const, and does not write to sources.
  const cv::Mat values(image.height, image.width, CV_32FC(image.channels),
                       const_cast<float*>(image.pixels.data()));
  cv::Mat result(image.height, image.width, CV_8UC(image.channels), bytes.data());
  if (image.channels == 3) {
    values.convertTo(result, CV_8U, 255);
    cv::cvtColor(result, result, cv::COLOR_RGB2Lab);
    return bytes;
  }
  cv::Mat grey;
  values.convertTo(grey, CV_8U, 255);
  cv::cvtColor(grey, grey, cv::COLOR_GRAY2RGB);
  cv::cvtColor(grey, grey, cv::COLOR_RGB2Lab);
  cv::extractChannel(grey, result, 0);
  return bytes;
}

}  // namespace diacut
