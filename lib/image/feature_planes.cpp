#include "image/feature_planes.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "core/parallel.hpp"

namespace diacut {

namespace {

/// Copies one channel of elements, `channels` apart, to a plane.
void copy_channel(const FeatureMap& features, std::size_t channel, float* plane) {
  const std::size_t pixels = PictureSize{features.width, features.height}.pixels();
  const auto channels = static_cast<std::size_t>(features.channels);
  if (features.halves.empty()) {
    const float* from = features.values.data() + channel;
    for (std::size_t i = 0; i < pixels; ++i) plane[i] = from[i * channels];
    return;
  }
  const std::uint16_t* from = features.halves.data() + channel;
  for (std::size_t i = 0; i < pixels; ++i) {
    plane[i] = static_cast<float>(std::bit_cast<cv::float16_t>(from[i * channels]));
  }
}

}  // namespace

std::vector<float> feature_planes(const FeatureMap& features, int first, int count,
                                  const PictureSize& size) {
  const PictureSize own{features.width, features.height};
  const std::size_t pixels = size.pixels();
  std::vector<float> planes(pixels * static_cast<std::size_t>(count));
  parallel_for(count, [&](int k) {
    float* plane = planes.data() + static_cast<std::size_t>(k) * pixels;
    const auto channel = static_cast<std::size_t>(first + k);
    if (own == size) {
      copy_channel(features, channel, plane);
      return;
    }
    std::vector<float> unscaled(own.pixels());
    copy_channel(features, channel, unscaled.data());
    const cv::Mat from(own.height, own.width, CV_32F, unscaled.data());
    cv::Mat to(size.height, size.width, CV_32F, plane);
    const bool smaller = size.width < own.width || size.height < own.height;
    cv::resize(from, to, to.size(), 0, 0, smaller ? cv::INTER_AREA : cv::INTER_LINEAR);
  });
  return planes;
}

std::uint64_t feature_planes_memory(const FeatureSize& features, int count,
                                    const PictureSize& size) {
  const PictureSize own{features.width, features.height};
  const std::size_t unscaled = own == size ? 0 : own.pixels();
  return (size.pixels() + unscaled) * static_cast<std::uint64_t>(count) * sizeof(float);
}

}  // namespace diacut
