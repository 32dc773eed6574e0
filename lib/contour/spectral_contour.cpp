#include "contour/spectral_contour.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <opencv2/imgproc.hpp>

namespace diacut {

namespace {

constexpr int kOrientations = 8;
constexpr int kHalf = 3;  ///< Pixels to each side of the middle of a 7 x 7 filter.
using Taps = std::array<double, 2 * kHalf + 1>;

/// The generalized eigenvector y = z / sqrt_degree, scaled to [0, 1] over the pixels with data, and
/// 0 elsewhere.
std::vector<double> scaled_vector(const std::vector<float>& z,
                                  const std::vector<float>& sqrt_degree) {
  std::vector<double> y(z.size(), 0.0);
  double low = INFINITY;
  double high = -INFINITY;
  for (std::size_t i = 0; i < z.size(); ++i) {
    if (!(sqrt_degree[i] > 0)) continue;
    y[i] = static_cast<double>(z[i]) / sqrt_degree[i];
    low = std::min(low, y[i]);
    high = std::max(high, y[i]);
  }
  const double rounding =
      8 * std::numeric_limits<float>::epsilon() * std::max(std::abs(low), std::abs(high));
  const double scale = high - low > rounding ? 1 / (high - low) : 0;
  for (std::size_t i = 0; i < z.size(); ++i) {
    y[i] = sqrt_degree[i] > 0 ? (y[i] - low) * scale : 0;
  }
  return y;
}

}  // namespace

double spectral_weight(double eigenvalue) { return 1 / std::sqrt(std::max(eigenvalue, 1e-7)); }

std::vector<double> reference_spectral_contour(const Eigenvectors& eigenvectors) {
  Taps gauss{};
  Taps derivative{};
  double total = 0;
  for (int t = -kHalf; t <= kHalf; ++t) total += std::exp(-0.5 * t * t);
  for (int t = -kHalf; t <= kHalf; ++t) {
    const auto i = static_cast<std::size_t>(t + kHalf);
    gauss[i] = std::exp(-0.5 * t * t) / total;
    derivative[i] = t * gauss[i];
  }

  const std::size_t pixels = eigenvectors.sqrt_degree.size();
  std::array<std::vector<double>, kOrientations> sums;
  for (std::vector<double>& map : sums) map.assign(pixels, 0.0);
  for (std::size_t k = 1; k < eigenvectors.vectors.size(); ++k) {
    std::vector<double> y = scaled_vector(eigenvectors.vectors[k], eigenvectors.sqrt_degree);
    const cv::Mat map(eigenvectors.height, eigenvectors.width, CV_64F, y.data());
    const auto filtered = [&](const Taps& along_rows, const Taps& along_columns) {
      std::vector<double> out(pixels);
      cv::Mat to(map.size(), CV_64F, out.data());
      cv::sepFilter2D(map, to, CV_64F, along_rows, along_columns, {-1, -1}, 0, cv::BORDER_REFLECT);
      return out;
    };
    const std::vector<double> dx = filtered(derivative, gauss);
    const std::vector<double> dy = filtered(gauss, derivative);
    const double weight = spectral_weight(eigenvectors.values[k]);
    for (std::size_t o = 0; o < sums.size(); ++o) {
      // The derivative of an isotropic Gaussian is steerable: the derivative in any direction
      // follows from dx and dy.
      const double angle = static_cast<double>(o) * std::numbers::pi / kOrientations;
      const double c = std::cos(angle) * weight;
      const double s = std::sin(angle) * weight;
      for (std::size_t i = 0; i < pixels; ++i) sums[o][i] += std::abs(c * dx[i] + s * dy[i]);
    }
  }
  std::vector<double> result(pixels, 0.0);
  for (const std::vector<double>& map : sums) {
    for (std::size_t i = 0; i < pixels; ++i) {
      if (eigenvectors.sqrt_degree[i] > 0) result[i] = std::max(result[i], map[i]);
    }
  }
  return result;
}

}  // namespace diacut
