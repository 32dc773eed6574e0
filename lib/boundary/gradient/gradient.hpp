#pragma once

#include <vector>

#include "diacut/image.hpp"
#include "diacut/parameters.hpp"
#include "matrix/grid.hpp"
#include "opencl/context.hpp"
#include "opencl/memory_budget.hpp"

namespace diacut {

/// A Gaussian and its derivative at whole pixels, radius ceil(3 sigma), scaled so that smoothing
/// keeps a constant and the derivative of a ramp is its slope.
struct GradientWeights {
  /// smooth[t], t = 0 to radius, of the pixels t ahead and t behind.
  std::vector<double> smooth;
  /// derivative[t - 1], t = 1 to radius, of the difference between the pixels t ahead and t behind.
  std::vector<double> derivative;

  int radius() const { return static_cast<int>(derivative.size()); }
};

/// Precondition: sigma > 0.
GradientWeights gradient_weights(double sigma);

/// Two pixels share a ridge if their gradients differ by less than this share; see
/// kernels/boundary/gradient/thin.cl.
inline constexpr double kRidgeSoftness = 0.1;

/// What gradient_strength() allocates on the device, what it returns included.
void budget_gradient(MemoryBudget& budget, const Grid& grid, double sigma);

/// Boundary strength as the gradient in Lab: the structure tensor of derivatives of Gaussian summed
/// over the channels (Di Zenzo 1986), the root of its larger eigenvalue, if parameters.thin only
/// its ridges, as a share of the larger of parameters.floor and the parameters.quantile quantile
/// (the ceil(quantile * n)-th smallest) over the pixels with data. Outside the image and where
/// there is no data the nearest pixel with data goes on. `valid`: grid.rows() elements,
/// `valid_pixels` of them 1. Returns grid.rows() elements.
Buffer<float> gradient_strength(Context& context, const Image& image, const Grid& grid,
                                const Buffer<std::uint8_t>& valid, std::size_t valid_pixels,
                                const CueParameters& parameters);

}  // namespace diacut
