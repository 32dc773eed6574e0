#include "image/detail.hpp"

#include <algorithm>
#include <cmath>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "image/colour.hpp"
#include "image/resize.hpp"

namespace diacut {
namespace {

/// Of the Gaussian, in pixels of the reduced picture. Half a pixel places the edges of drawn scenes
/// with noise and texture more closely than a smaller one.
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

}  // namespace

PictureSize detail_size(const PictureSize& full, const PictureSize& found) {
  return {std::min(full.width, 2 * found.width), std::min(full.height, 2 * found.height)};
}

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
  std::vector<std::uint8_t> result(static_cast<std::size_t>(full.width) *
                                   static_cast<std::size_t>(full.height));
  cv::Mat enlarged(full.height, full.width, CV_8U, result.data());
  // Bit-exact, so that the regions do not depend on the processor's instructions.
  cv::resize(levels, enlarged, enlarged.size(), 0, 0, cv::INTER_LINEAR_EXACT);
  return result;
}

}  // namespace diacut
