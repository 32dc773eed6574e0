#include "contour/combined_contour.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <opencv2/imgproc.hpp>

#include "opencl/lanes.hpp"
#include "opencl/uploads.hpp"

namespace diacut {

namespace {

constexpr char kContours[] = "contours";
/// Pixels around a plane, which a derivative reaches.
constexpr int kBorder = 3;

/// Work-items that search one vector for its least and largest element. There are few vectors, so a
/// GPU needs many work-items for each.
std::size_t scale_group(const DeviceInfo& device) {
  if (device.kind == DeviceKind::kCpu) return 1;
  return std::bit_floor(std::clamp<std::size_t>(device.max_work_group, 1, 1024));
}

/// The Gaussian of sigma 1 with unit sum over 7 pixels, at 0 to 3 pixels from its middle.
cl_float4 gaussian() {
  std::array<double, kBorder + 1> taps{};
  double sum = 0;
  for (std::size_t t = 0; t < taps.size(); ++t) {
    taps[t] = std::exp(-0.5 * static_cast<double>(t * t));
    sum += t == 0 ? taps[t] : 2 * taps[t];
  }
  cl_float4 result{};
  for (std::size_t t = 0; t < taps.size(); ++t) result.s[t] = static_cast<float>(taps[t] / sum);
  return result;
}

/// The quantile 0.99 of the contour over the pixels with data, or the largest value where that is
/// 0; 1 where all are.
double strongest(const std::vector<float>& contour, const std::vector<float>& sqrt_degree) {
  constexpr double kQuantile = 0.99;
  std::vector<float> values;
  for (std::size_t i = 0; i < contour.size(); ++i) {
    if (sqrt_degree[i] > 0) values.push_back(contour[i]);
  }
  if (values.empty()) return 1;
  const auto at = values.begin() +
                  static_cast<std::ptrdiff_t>(kQuantile * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  const float value = *at > 0 ? *at : *std::max_element(at, values.end());
  return value > 0 ? value : 1;
}

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

KernelFile contour_kernels(Context& context, SpectralUse spectral) {
  if (spectral == SpectralUse::kNever) return {context, "contour/boundary_contour.cl", ""};
  return {context, "contour/spectral_contour.cl",
          fmt::format("-DGROUP={} -DWIDTH={}", scale_group(context.info()),
                      lane_shape(context.info()).width)};
}

double spectral_weight(double eigenvalue) { return 1 / std::sqrt(std::max(eigenvalue, 1e-7)); }

Buffer<float> combined_contour(Context& context, const Grid& grid,
                               const DeviceEigenvectors& eigenvectors,
                               const Buffer<float>& sqrt_degree, const Buffer<float>& boundary,
                               const ContourParameters& parameters) {
  const KernelFile kernels = contour_kernels(context, SpectralUse::kFull);
  // Without the trivial one.
  const auto count = static_cast<std::size_t>(std::max(eigenvectors.count - 1, 0));
  const std::size_t first = eigenvectors.pitch;
  const std::size_t lanes = lane_shape(context.info()).width;
  const auto width = static_cast<std::size_t>(grid.width);
  const std::size_t bordered = static_cast<std::size_t>(grid.height) + 2 * std::size_t{kBorder};
  // The distance of rows in a plane: whole vectors of any width that a device may use, and the
  // border.
  constexpr std::size_t kWidest = 16;
  const std::size_t row = round_up(width, kWidest) + kWidest;
  const auto padded_stride = static_cast<int>(row);
  const auto planes = context.allocate<float>(count * bordered * row, "eigenvectors with a border");
  auto contour = context.allocate<float>(grid.rows(), kContours);
  if (count > 0) {
    std::vector<float> weights;
    for (std::size_t k = 1; k <= count; ++k) {
      weights.push_back(static_cast<float>(spectral_weight(eigenvectors.values[k])));
    }
    const auto scales = context.allocate<float>(2 * count, "scales of eigenvectors");
    const std::size_t group = scale_group(context.info());
    kernels.launch("spectral_scale", cl::NDRange(count * group), cl::NDRange(group),
                   eigenvectors.basis, first, eigenvectors.pitch, sqrt_degree, grid.rows(),
                   device_table(context, weights, "weights of eigenvectors"), scales);
    kernels.launch("spectral_pad", cl::NDRange(round_up(row / lanes, kRowGroup), bordered, count),
                   cl::NDRange(kRowGroup, 1, 1), eigenvectors.basis, first, eigenvectors.pitch,
                   sqrt_degree, scales, planes, grid.width, grid.height, padded_stride);
  }
  kernels.launch_rows("spectral_contour", round_up(width, lanes) / lanes,
                      static_cast<std::size_t>(grid.height), planes, static_cast<int>(count),
                      sqrt_degree, boundary, contour, grid.width, grid.height, padded_stride,
                      gaussian(), static_cast<float>(parameters.boundary_weight),
                      static_cast<float>(parameters.spectral_weight),
                      static_cast<float>(1 / parameters.spectral_scale),
                      static_cast<float>(parameters.spectral_power));
  return contour;
}

Buffer<float> spectral_contour_alone(Context& context, const Grid& grid,
                                     const DeviceEigenvectors& eigenvectors,
                                     const Buffer<float>& sqrt_degree, const Buffer<float>& nothing,
                                     const ContourParameters& parameters) {
  // A power of two scales floats without rounding, and nothing is as large as this one.
  constexpr double kLarge = 0x1p60;
  const auto contour = [&](double scale, double power) {
    const ContourParameters alone{parameters.spectral, 0, 1, power, scale};
    return combined_contour(context, grid, eigenvectors, sqrt_degree, nothing, alone);
  };
  const double scale = kLarge * strongest(contour(kLarge, 1).download(), sqrt_degree.download());
  return contour(scale, parameters.spectral_power);
}

Buffer<float> boundary_contour(Context& context, const Grid& grid, const Buffer<float>& boundary,
                               const ContourParameters& parameters) {
  auto contour = context.allocate<float>(grid.rows(), kContours);
  contour_kernels(context, SpectralUse::kNever)
      .launch_rows("boundary_contour", grid.rows(), 1, boundary, contour, grid.rows(),
                   static_cast<float>(parameters.boundary_weight));
  return contour;
}

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

std::vector<double> reference_combined_contour(const std::vector<float>& boundary,
                                               const std::vector<double>& spectral,
                                               const ContourParameters& parameters) {
  std::vector<double> result(boundary.size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    const double shape =
        std::pow(std::min(spectral[i] / parameters.spectral_scale, 1.0), parameters.spectral_power);
    result[i] = std::min(
        parameters.boundary_weight * boundary[i] + parameters.spectral_weight * shape, 1.0);
  }
  return result;
}

}  // namespace diacut
