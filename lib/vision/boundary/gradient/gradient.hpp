#pragma once

#include <vector>

#include "diacut/image.hpp"
#include "diacut/parameters.hpp"

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

/// How far from a pixel other pixels count for its gradient.
int gradient_reach(double sigma);

/// The magnitude of the gradient as gradient_boundary_map() has it, not thinned and not divided:
/// a value for each pixel, row by row, 0 where there is no data.
std::vector<float> gradient_magnitude(const Image& image, double sigma);

/// The strength of a magnitude, of which the value `full` becomes 1: at most 1.
float gradient_strength(float magnitude, float full);

/// The boundary map of an image from its gradient in Lab: a value in [0, 1] for each pixel, row by
/// row, 0 where there is no data. The structure tensor of derivatives of Gaussian is summed over
/// the channels (Di Zenzo, A note on the gradient of a multi-image, CVGIP 33, 1986); the magnitude
/// of the gradient is the square root of its larger eigenvalue. With parameters.thin only the
/// ridges of the magnitude are kept. The magnitude is divided by the larger of parameters.floor and
/// its quantile parameters.quantile over the pixels with data, and limited to 1. Outside of the
/// image, and where there is no data, the nearest pixel with data is repeated.
std::vector<float> gradient_boundary_map(const Image& image, const BoundaryParameters& parameters);

}  // namespace diacut
