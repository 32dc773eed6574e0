#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "diacut/image.hpp"
#include "diacut/parameters.hpp"
#include "matrix/grid.hpp"
#include "opencl/context.hpp"

namespace diacut {

/// A Gaussian and its derivative at whole pixels up to radius ceil(3 sigma), scaled so that
/// smoothing a constant gives that constant and the derivative of a ramp is its slope.
struct GradientWeights {
  /// smooth[t], t = 0 to radius, is the weight of the pixels t ahead and t behind.
  std::vector<double> smooth;
  /// derivative[t - 1], t = 1 to radius, is the weight of the difference between the pixels t ahead
  /// and t behind.
  std::vector<double> derivative;

  int radius() const { return static_cast<int>(derivative.size()); }
};

/// The weights at scale sigma, in pixels. Precondition: sigma > 0.
GradientWeights gradient_weights(double sigma);

/// Non-maximum suppression removes a pixel whose gradient is less than 1 - kRidgeSoftness times the
/// gradient beside it, and reduces pixels above that (kernels/boundary/gradient/thin.cl).
inline constexpr double kRidgeSoftness = 0.1;

/// The rank, from 1, of the quantile of `count` values: ceil(quantile * count), at least 1.
std::uint32_t quantile_rank(double quantile, std::size_t count);

/// How far from a pixel other pixels count for its gradient.
int gradient_reach(double sigma);

/// The magnitude of the gradient as gradient_boundary_map() has it, not thinned and not divided:
/// grid.pixels() values, pixel (x, y) at y * width + x. Precondition: valid_pixels > 0. Throws
/// DeviceError.
Buffer<float> gradient_magnitude(Context& context, const Image& image, const Grid& grid,
                                 const Buffer<std::uint8_t>& valid, std::size_t valid_pixels,
                                 double sigma);

/// The boundary map of an image from its gradient in Lab, grid.rows() values in [0, 1], 0 where
/// there is no data. The structure tensor of derivatives of Gaussian is summed over the channels
/// (Di Zenzo, A note on the gradient of a multi-image, CVGIP 33, 1986); the magnitude of the
/// gradient is the square root of its larger eigenvalue. With parameters.thin only the ridges of
/// the magnitude are kept. The magnitude is divided by the larger of parameters.floor and its
/// quantile parameters.quantile over the pixels with data, and limited to 1. Outside of the image,
/// and where there is no data, the nearest pixel with data is repeated. `valid` has grid.rows()
/// elements, `valid_pixels` of them 1. Throws DeviceError.
Buffer<float> gradient_boundary_map(Context& context, const Image& image, const Grid& grid,
                                    const Buffer<std::uint8_t>& valid, std::size_t valid_pixels,
                                    const CueParameters& parameters);

}  // namespace diacut
