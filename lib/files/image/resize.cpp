#include "image/resize.hpp"

#include <algorithm>
#include <cmath>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "image/colour.hpp"

namespace diacut {

namespace {

/// A view of values that OpenCV does not write to.
cv::Mat view_of(const float* values, const PictureSize& size, int channels) {
  return {size.height, size.width, CV_32FC(channels), const_cast<float*>(values)};
}

/// Divides the sums of pixels with data by the share of each pixel that has data.
void restore_means(Image& image, const cv::Mat& share) {
  const auto channels = static_cast<std::size_t>(image.channels);
  const float* covered = share.ptr<float>();
  image.valid.resize(image.pixel_count());
  for (std::size_t i = 0; i < image.pixel_count(); ++i) {
    image.valid[i] = covered[i] > 0 ? 1 : 0;
    for (std::size_t c = 0; c < channels; ++c) {
      float& value = image.pixels[i * channels + c];
      value = covered[i] > 0 ? value / covered[i] : 0.0F;
    }
  }
  const bool whole = std::all_of(image.valid.begin(), image.valid.end(),
                                 [](std::uint8_t data) { return data != 0; });
  if (whole) image.valid.clear();
}

/// For each of `to` cells along a side of `from` pixels, the first pixel that it covers, and at the
/// end `from`.
std::vector<int> cell_starts(int from, int to) {
  std::vector<int> starts;
  for (int cell = 0; cell <= to; ++cell) {
    starts.push_back(static_cast<int>(std::int64_t{cell} * from / to));
  }
  return starts;
}

}  // namespace

double longer_side(const PictureSize& picture) {
  const double longer = std::max(picture.width, picture.height);
  const double shorter = std::min(picture.width, picture.height);
  return longer <= 2 * shorter ? longer : std::sqrt(2 * longer * shorter);
}

PictureSize reduced_size(const PictureSize& picture, int side) {
  const double longer = longer_side(picture);
  if (side == 0 || longer <= side) return picture;
  const auto scaled = [&](int pixels) {
    return std::max(1, static_cast<int>(std::lround(pixels * (side / longer))));
  };
  return {scaled(picture.width), scaled(picture.height)};
}

Image reduced(const Image& image, const PictureSize& size) {
  const PictureSize full{image.width, image.height};
  if (size == full) return image;
  Image result;
  result.width = size.width;
  result.height = size.height;
  result.channels = image.channels;
  result.notes = image.notes;
  result.pixels.resize(size.pixels() * static_cast<std::size_t>(image.channels));
  const cv::Size target(size.width, size.height);
  cv::Mat pixels(size.height, size.width, CV_32FC(image.channels), result.pixels.data());
  // Pixels without data are 0, so that they add nothing.
  cv::resize(view_of(image.pixels.data(), full, image.channels), pixels, target, 0, 0,
             cv::INTER_AREA);
  if (!image.valid.empty()) {
    cv::Mat data(image.height, image.width, CV_32F);
    std::transform(image.valid.begin(), image.valid.end(), data.ptr<float>(),
                   [](std::uint8_t valid) { return valid != 0 ? 1.0F : 0.0F; });
    cv::Mat share;
    cv::resize(data, share, target, 0, 0, cv::INTER_AREA);
    restore_means(result, share);
  }
  // Sums of weights may round to a little more than 1.
  for (float& value : result.pixels) value = std::clamp(value, 0.0F, 1.0F);
  return result;
}

std::vector<float> enlarged(const std::vector<float>& map, const PictureSize& from,
                            const PictureSize& to, const std::vector<std::uint8_t>& valid) {
  if (from == to) return map;
  std::vector<float> result(to.pixels());
  cv::Mat values(to.height, to.width, CV_32F, result.data());
  cv::resize(view_of(map.data(), from, 1), values, cv::Size(to.width, to.height), 0, 0,
             cv::INTER_LINEAR);
  for (std::size_t i = 0; i < valid.size(); ++i) {
    if (valid[i] == 0) result[i] = 0.0F;
  }
  return result;
}

std::vector<float> reduced_by_maximum(const std::vector<float>& map, const PictureSize& from,
                                      const PictureSize& to) {
  if (from == to) return map;
  const std::vector<int> columns = cell_starts(from.width, to.width);
  const std::vector<int> rows = cell_starts(from.height, to.height);
  std::vector<float> result;
  result.reserve(to.pixels());
  for (int y = 0; y < to.height; ++y) {
    for (int x = 0; x < to.width; ++x) {
      float largest = 0;
      for (int row = rows[y]; row < rows[y + 1]; ++row) {
        const auto first = map.begin() + std::ptrdiff_t{row} * from.width;
        largest = std::max(largest, *std::max_element(first + columns[x], first + columns[x + 1]));
      }
      result.push_back(largest);
    }
  }
  return result;
}

std::vector<float> filled_from_nearest(const Image& image) {
  std::vector<float> pixels = image.pixels;
  const auto is_valid = [](std::uint8_t data) { return data != 0; };
  if (image.valid.empty() || std::none_of(image.valid.begin(), image.valid.end(), is_valid)) {
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

namespace {

/// Sigma of the Gaussian, in pixels of the reduced picture. Half a pixel places the edges of drawn
/// scenes with noise and texture more closely than a smaller one.
constexpr double kSigma = 0.5;

/// Levels for a Lab unit per pixel of the reduced picture.
constexpr double kLevels = 4;

/// Squared magnitude of the gradient of one plane, added to `sum`. `plane` is smoothed.
void add_gradient(cv::Mat& plane, double sigma, cv::Mat& sum) {
  cv::GaussianBlur(plane, plane, cv::Size(0, 0), sigma, sigma, cv::BORDER_REPLICATE);
  // The Sobel operator gives 8 times the derivative.
  constexpr double kUnit = 1.0 / 8;
  for (const auto& [dx, dy] : {std::pair(1, 0), std::pair(0, 1)}) {
    cv::Mat derivative;
    cv::Sobel(plane, derivative, CV_32F, dx, dy, 3, kUnit, 0, cv::BORDER_REPLICATE);
    cv::accumulateSquare(derivative, sum);
  }
}

PictureSize detail_size(const PictureSize& full, const PictureSize& found) {
  return {std::min(full.width, 2 * found.width), std::min(full.height, 2 * found.height)};
}

}  // namespace

Image detail_picture(const Image& image, const PictureSize& found) {
  return reduced(image, detail_size({image.width, image.height}, found));
}

std::vector<std::uint8_t> detail_levels(Image detail, const PictureSize& found,
                                        const PictureSize& full) {
  detail.pixels = filled_from_nearest(detail);
  detail.valid.clear();
  const double scale = static_cast<double>(detail.width) / found.width;
  std::vector<float> planes = lab_planes(detail);
  cv::Mat sum = cv::Mat::zeros(detail.height, detail.width, CV_32F);
  for (int channel = 0; channel < detail.channels; ++channel) {
    cv::Mat plane(detail.height, detail.width, CV_32F,
                  planes.data() + detail.pixel_count() * static_cast<std::size_t>(channel));
    add_gradient(plane, kSigma * scale, sum);
  }
  cv::Mat magnitude;
  cv::sqrt(sum, magnitude);
  cv::Mat levels;
  magnitude.convertTo(levels, CV_8U, scale * kLevels);
  std::vector<std::uint8_t> result(full.pixels());
  cv::Mat enlarged(full.height, full.width, CV_8U, result.data());
  // Bit-exact, so that the regions do not depend on the processor's instructions.
  cv::resize(levels, enlarged, enlarged.size(), 0, 0, cv::INTER_LINEAR_EXACT);
  return result;
}

}  // namespace diacut
