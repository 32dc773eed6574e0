#include "output/vector_picture.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace diacut {
namespace {

const cv::Vec3b kNoData(150, 150, 150);

/// From dark blue (share 0) over light grey (1/2) to dark red (1).
cv::Vec3b diverging_colour(float share) {
  static const std::array<cv::Vec3f, 7> anchors = {
      cv::Vec3f(20, 60, 120),   cv::Vec3f(60, 125, 180),  cv::Vec3f(160, 200, 225),
      cv::Vec3f(242, 242, 240), cv::Vec3f(245, 190, 160), cv::Vec3f(210, 100, 75),
      cv::Vec3f(140, 20, 35)};
  const float position = share * static_cast<float>(anchors.size() - 1);
  const std::size_t low = std::min(static_cast<std::size_t>(position), anchors.size() - 2);
  const float rest = position - static_cast<float>(low);
  return anchors[low] * (1 - rest) + anchors[low + 1] * rest;
}

}  // namespace

std::vector<float> generalized(const Eigenvectors& eigenvectors, std::size_t k) {
  const std::vector<float>& z = eigenvectors.vectors[k];
  std::vector<float> y(z.size(), 0.0F);
  for (std::size_t i = 0; i < z.size(); ++i) {
    if (eigenvectors.sqrt_degree[i] > 0) y[i] = z[i] / eigenvectors.sqrt_degree[i];
  }
  return y;
}

cv::Mat3b vector_picture(const std::vector<float>& y, const std::vector<float>& sqrt_degree,
                         int width, int height) {
  std::vector<float> magnitudes;
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (sqrt_degree[i] > 0) magnitudes.push_back(std::abs(y[i]));
  }
  float full = 0;
  if (!magnitudes.empty()) {
    const auto nth =
        magnitudes.begin() + static_cast<std::ptrdiff_t>((magnitudes.size() - 1) * 98 / 100);
    std::nth_element(magnitudes.begin(), nth, magnitudes.end());
    full = *nth;
  }
  cv::Mat3b picture(height, width);
  std::size_t i = 0;
  for (cv::Vec3b& pixel : picture) {
    const float share = full > 0 ? std::clamp(y[i] / full, -1.0F, 1.0F) : 0.0F;
    pixel = sqrt_degree[i] > 0 ? diverging_colour((share + 1) / 2) : kNoData;
    ++i;
  }
  return picture;
}

}  // namespace diacut
