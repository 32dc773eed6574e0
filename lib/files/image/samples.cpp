#include "diacut/samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <opencv2/core.hpp>
#include <utility>

#include "diacut/errors.hpp"
#include "image/decoded.hpp"
#include "image/values.hpp"

namespace diacut {
namespace {

/// How samples of a type lie in a cv::Mat, which has no type for unsigned integers of 32 bits.
int depth_of(SampleType type) {
  constexpr std::array kDepths = {CV_8U,  CV_8U,  CV_8S,  CV_16U, CV_16S,
                                  CV_64F, CV_32S, CV_32F, CV_64F};
  static_assert(static_cast<int>(SampleType::kUint32) == 5);
  static_assert(static_cast<int>(SampleType::kFloat64) + 1 == kDepths.size());
  return kDepths.at(static_cast<std::size_t>(type));
}

std::size_t row_bytes(const Samples& samples) {
  const std::size_t each = samples.type == SampleType::kUint32
                               ? sizeof(std::uint32_t)
                               : CV_ELEM_SIZE1(depth_of(samples.type));
  return each * static_cast<std::size_t>(samples.width * samples.channels);
}

void check_shape(const Samples& samples, std::int64_t max_pixels) {
  if (samples.channels < 1 || samples.channels > 4) {
    throw InputError(
        fmt::format("the array has {} channels, expected 1 (grey), 2 (grey, alpha), 3 (red, green, "
                    "blue) or 4 (red, green, blue, alpha)",
                    samples.channels));
  }
  if (samples.width < 1 || samples.height < 1) {
    throw InputError(fmt::format("the array is empty: it has {} rows of {} pixels", samples.height,
                                 samples.width));
  }
  // Divided, because the product may not fit the type.
  if (samples.width > max_pixels / samples.height ||
      std::max(samples.width, samples.height) > std::numeric_limits<int>::max()) {
    throw InputError(
        fmt::format("the array has {} x {} pixels, more than the limit of {}: scale or crop it, or "
                    "raise image.max_pixels",
                    samples.width, samples.height, max_pixels));
  }
}

}  // namespace

Image image_from_samples(const Samples& samples, const ImageParameters& parameters) {
  check_shape(samples, parameters.max_pixels);
  const int depth = depth_of(samples.type);
  const auto width = static_cast<int>(samples.width);
  const auto height = static_cast<int>(samples.height);
  const auto channels = static_cast<int>(samples.channels);
  Decoded decoded;
  decoded.has_alpha = channels % 2 == 0;
  decoded.type_range = range_of(depth);
  if (samples.type == SampleType::kBool) decoded.type_range = std::pair{0.0, 1.0};
  const std::size_t row = row_bytes(samples);
  const std::size_t stride = samples.stride == 0 ? row : samples.stride;
  if (stride < row) {
    throw InputError(fmt::format("the array's rows are {} bytes apart, and have {}", stride, row));
  }
  if (samples.type == SampleType::kUint32) {
    decoded.type_range = std::pair{0.0, 4294967295.0};
    decoded.samples.create(height, width, CV_64FC(channels));
    for (int y = 0; y < height; ++y) {
      const auto* at = static_cast<const std::uint8_t*>(samples.data) + stride * y;
      std::copy_n(reinterpret_cast<const std::uint32_t*>(at), row / sizeof(std::uint32_t),
                  decoded.samples.ptr<double>(y));
    }
  } else {
    // cv::Mat has no view of constant samples; these are only read.
    decoded.samples = cv::Mat(height, width, CV_MAKETYPE(depth, channels),
                              const_cast<void*>(samples.data), stride);
  }
  if (samples.blue_first && channels > 2) {
    constexpr std::array kOrder = {0, 2, 1, 1, 2, 0, 3, 3};
    cv::Mat turned(height, width, decoded.samples.type());
    cv::mixChannels(&decoded.samples, 1, &turned, 1, kOrder.data(), channels);
    decoded.samples = turned;
  }
  return to_image(decoded, parameters.range);
}

}  // namespace diacut
