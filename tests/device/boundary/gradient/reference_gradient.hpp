#pragma once

#include <vector>

#include "diacut/image.hpp"
#include "diacut/parameters.hpp"

namespace diacut::testing {

/// The softness of the suppression of what is no ridge.
inline constexpr double kRidgeSoftness = 0.1;

/// The boundary map of gradient_boundary_map() in double, by plain loops, written to be read:
/// width * height values in [0, 1], row by row.
std::vector<double> reference_gradient(const Image& image, const CueParameters& parameters);

}  // namespace diacut::testing
