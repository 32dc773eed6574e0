#pragma once

#include <vector>

#include "diacut/image.hpp"
#include "diacut/parameters.hpp"

namespace diacut {

/// The boundary map of gradient_boundary_map() on the host in double, by plain loops, written to be
/// read: width * height values in [0, 1], row by row.
std::vector<double> reference_gradient(const Image& image, const CueParameters& parameters);

}  // namespace diacut
