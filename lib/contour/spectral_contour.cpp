#include "contour/spectral_contour.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

#include "opencl/arguments.hpp"
#include "opencl/lanes.hpp"

namespace diacut {

namespace {

constexpr char kSpectralContourFile[] = "contour/spectral_contour.cl";
constexpr int kBorder = 3;

/// The distance of rows in a plane: whole vectors of any width that a device may use, and the
/// border.
int padded_stride(int width) {
  constexpr std::size_t kWidest = 16;
  return static_cast<int>(round_up(static_cast<std::size_t>(width), kWidest) + kWidest);
}

std::size_t planes_size(const Grid& grid, int vectors) {
  return static_cast<std::size_t>(vectors) * static_cast<std::size_t>(grid.height + 2 * kBorder) *
         static_cast<std::size_t>(padded_stride(grid.width));
}

/// Work-items that search one vector for its least and largest element. There are few vectors, so a
/// GPU needs many work-items for each.
std::size_t scale_group(const DeviceInfo& device) {
  if (device.kind == DeviceKind::kCpu) return 1;
  return std::bit_floor(std::clamp<std::size_t>(device.max_work_group, 1, 1024));
}

std::string options_for(const DeviceInfo& device) {
  return fmt::format("-DGROUP={} -DWIDTH={}", scale_group(device), lane_shape(device).width);
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

}  // namespace

SpectralContour::SpectralContour(Context& context, const Grid& grid, int vectors)
    : context_(&context),
      grid_(grid),
      padded_stride_(padded_stride(grid.width)),
      group_(scale_group(context.info())),
      lanes_(lane_shape(context.info()).width),
      planes_(context.allocate<float>(planes_size(grid, vectors), "eigenvectors with a border")),
      weights_(
          context.allocate<float>(static_cast<std::size_t>(vectors), "weights of eigenvectors")),
      scales_(context.allocate<float>(2 * static_cast<std::size_t>(vectors),
                                      "scales of eigenvectors")) {
  const std::string options = options_for(context.info());
  scale_ = context.kernel(kSpectralContourFile, "spectral_scale", options);
  pad_ = context.kernel(kSpectralContourFile, "spectral_pad", options);
  contour_ = context.kernel(kSpectralContourFile, "spectral_contour", options);
}

void SpectralContour::launch(const DeviceVectors& vectors, const Buffer<float>& sqrt_degree,
                             const std::vector<float>& weights, const Buffer<float>& boundary,
                             const ContourParameters& parameters, Buffer<float>& contour) {
  const auto count = static_cast<std::size_t>(vectors.count);
  if (count > 0) {
    weights_.upload(weights);
    set_arguments(scale_, vectors.basis, vectors.first, vectors.pitch, sqrt_degree, grid_.rows(),
                  weights_, scales_);
    context_->launch(scale_, cl::NDRange(count * group_), cl::NDRange(group_));
  }
  launch_contour(vectors, sqrt_degree, boundary, parameters, contour);
}

void SpectralContour::launch_scaled(const DeviceVectors& vectors, const Buffer<float>& sqrt_degree,
                                    const std::vector<float>& scales, const Buffer<float>& boundary,
                                    const ContourParameters& parameters, Buffer<float>& contour) {
  scales_.upload_later(scales);
  launch_contour(vectors, sqrt_degree, boundary, parameters, contour);
}

void SpectralContour::launch_contour(const DeviceVectors& vectors, const Buffer<float>& sqrt_degree,
                                     const Buffer<float>& boundary,
                                     const ContourParameters& parameters, Buffer<float>& contour) {
  const auto count = static_cast<std::size_t>(vectors.count);
  if (count > 0) {
    set_arguments(pad_, vectors.basis, vectors.first, vectors.pitch, sqrt_degree, scales_, planes_,
                  grid_.width, grid_.height, grid_.stride, padded_stride_);
    const std::size_t columns = static_cast<std::size_t>(padded_stride_) / lanes_;
    context_->launch(pad_,
                     cl::NDRange(round_up(columns, kRowGroup),
                                 static_cast<std::size_t>(grid_.height + 2 * kBorder), count),
                     cl::NDRange(kRowGroup, 1, 1));
  }
  set_arguments(contour_, planes_, vectors.count, sqrt_degree, boundary, contour, grid_.width,
                grid_.height, grid_.stride, padded_stride_, gaussian(),
                static_cast<float>(parameters.cue_weight),
                static_cast<float>(parameters.spectral_weight),
                static_cast<float>(1 / parameters.spectral_scale),
                static_cast<float>(parameters.spectral_power));
  launch_rows(*context_, contour_, round_up(static_cast<std::size_t>(grid_.width), lanes_) / lanes_,
              static_cast<std::size_t>(grid_.height));
}

namespace {

constexpr int kOrientations = 8;
constexpr int kHalf = 3;  ///< Pixels to each side of the middle of a 7 x 7 filter.
using Taps = std::array<double, 2 * kHalf + 1>;

int mirrored_index(int i, int n) {
  while (i < 0 || i >= n) i = i < 0 ? -1 - i : 2 * n - 1 - i;
  return i;
}

/// The correlation of every row, or of every column, of `in` with `taps`.
std::vector<double> filtered(const std::vector<double>& in, int width, int height, bool rows,
                             const Taps& taps) {
  std::vector<double> out(in.size());
  std::size_t at = 0;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x, ++at) {
      double sum = 0;
      for (int t = -kHalf; t <= kHalf; ++t) {
        const auto sx = static_cast<std::size_t>(rows ? mirrored_index(x + t, width) : x);
        const auto sy = static_cast<std::size_t>(rows ? y : mirrored_index(y + t, height));
        sum += taps[static_cast<std::size_t>(t + kHalf)] *
               in[sy * static_cast<std::size_t>(width) + sx];
      }
      out[at] = sum;
    }
  }
  return out;
}

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
  const int width = eigenvectors.width;
  const int height = eigenvectors.height;
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
    const std::vector<double> y = scaled_vector(eigenvectors.vectors[k], eigenvectors.sqrt_degree);
    const std::vector<double> dx =
        filtered(filtered(y, width, height, true, derivative), width, height, false, gauss);
    const std::vector<double> dy =
        filtered(filtered(y, width, height, true, gauss), width, height, false, derivative);
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
