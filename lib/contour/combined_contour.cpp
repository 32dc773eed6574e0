#include "contour/combined_contour.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "contour/spectral_contour.hpp"
#include "opencl/arguments.hpp"

namespace diacut {

namespace {

constexpr char kContours[] = "contours";

/// The quantile 0.99 of the contour over the pixels with data, or the largest value where that is
/// 0; 1 where all are.
double strongest(const Grid& grid, const std::vector<float>& contour,
                 const std::vector<float>& sqrt_degree) {
  constexpr double kQuantile = 0.99;
  std::vector<float> values;
  for (int y = 0; y < grid.height; ++y) {
    for (int x = 0; x < grid.width; ++x) {
      const std::size_t i = static_cast<std::size_t>(y) * static_cast<std::size_t>(grid.stride) +
                            static_cast<std::size_t>(x);
      if (sqrt_degree[i] > 0) values.push_back(contour[i]);
    }
  }
  if (values.empty()) return 1;
  const auto at = values.begin() +
                  static_cast<std::ptrdiff_t>(kQuantile * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  const float value = *at > 0 ? *at : *std::max_element(at, values.end());
  return value > 0 ? value : 1;
}

}  // namespace

Buffer<float> combined_contour(Context& context, const Grid& grid,
                               const DeviceEigenvectors& eigenvectors,
                               const Buffer<float>& sqrt_degree, const Buffer<float>& boundary,
                               const ContourParameters& parameters) {
  const int count = eigenvectors.count - 1;  // Without the trivial eigenvector.
  std::vector<float> weights;
  for (auto value = eigenvectors.values.begin() + 1; value != eigenvectors.values.end(); ++value) {
    weights.push_back(static_cast<float>(spectral_weight(*value)));
  }
  SpectralContour kernels(context, grid, count);
  auto contour = context.allocate<float>(grid.rows(), kContours);
  kernels.launch({eigenvectors.basis, eigenvectors.pitch, eigenvectors.pitch, count}, sqrt_degree,
                 weights, boundary, parameters, contour);
  return contour;
}

Buffer<float> combined_contour(Context& context, const Grid& grid,
                               const ContourEigenvectors& eigenvectors, std::size_t image,
                               const Buffer<float>& mask, const Buffer<float>& boundary,
                               const ContourParameters& parameters) {
  const ContourEigenvectors::Image& own = eigenvectors.images[image];
  const std::size_t count = own.values.size();
  std::vector<float> scales;
  for (std::size_t k = 0; k < count; ++k) {
    const double weight = spectral_weight(own.values[k]);
    scales.push_back(own.least[k]);
    scales.push_back(own.extent[k] > 0 ? static_cast<float>(weight / own.extent[k]) : 0.0F);
  }
  SpectralContour kernels(context, grid, static_cast<int>(count));
  auto contour = context.allocate<float>(grid.rows(), kContours);
  kernels.launch_scaled({eigenvectors.vectors,
                         image * static_cast<std::size_t>(eigenvectors.count) * eigenvectors.pitch,
                         eigenvectors.pitch, static_cast<int>(count)},
                        mask, scales, boundary, parameters, contour);
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
  const double scale =
      kLarge * strongest(grid, contour(kLarge, 1).download(), sqrt_degree.download());
  return contour(scale, parameters.spectral_power);
}

Buffer<float> cue_contour(Context& context, const Grid& grid, const Buffer<float>& boundary,
                          const ContourParameters& parameters) {
  auto contour = context.allocate<float>(grid.rows(), kContours);
  launch_cue_contour(context, boundary, grid.rows(), static_cast<float>(parameters.cue_weight),
                     contour);
  return contour;
}

std::vector<double> reference_combined_contour(const std::vector<float>& boundary,
                                               const std::vector<double>& spectral,
                                               const ContourParameters& parameters) {
  std::vector<double> result(boundary.size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    const double shape =
        std::pow(std::min(spectral[i] / parameters.spectral_scale, 1.0), parameters.spectral_power);
    result[i] =
        std::min(parameters.cue_weight * boundary[i] + parameters.spectral_weight * shape, 1.0);
  }
  return result;
}

Kernel cue_contour_kernel(Context& context) {
  return context.kernel("contour/cue_contour.cl", "cue_contour", "");
}

void launch_cue_contour(Context& context, const Buffer<float>& boundary, std::size_t elements,
                        float weight, Buffer<float>& contour) {
  Kernel kernel = cue_contour_kernel(context);
  set_arguments(kernel, boundary, contour, elements, weight);
  launch_rows(context, kernel, elements, 1);
}

}  // namespace diacut
