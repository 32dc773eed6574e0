#pragma once

#include <string>
#include <vector>

#include "diacut/image.hpp"

namespace diacut::bench {

/// An image made for its size: `how` is "enlarge" (the photograph by bilinear interpolation),
/// "tile" (the photograph and its mirror images side by side) or "scene" (coloured discs of many
/// sizes with noise, no photograph; equal for equal sizes). About `megapixels`, in the
/// proportions of `photograph`, or 3:2 without one. Throws ConfigError.
Image sized_image(const Image* photograph, const std::string& how, double megapixels);

/// The slope of log(y) over log(x) by least squares: y grows as x to this power. NaN for less than
/// two sizes.
double growth_exponent(const std::vector<double>& x, const std::vector<double>& y);

}  // namespace diacut::bench
