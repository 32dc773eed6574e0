#pragma once

#include <cstddef>
#include <vector>

#include "image/decoded.hpp"

namespace diacut {

class Scene;

/// The principal components of standardized bands, of which at most three are kept.
struct Components {
  std::vector<double> mean;   ///< Of each band.
  std::vector<double> scale;  ///< One divided by its standard deviation; 0 for a flat band.
  /// The weights of the standardized bands in each component, which have length 1. Their sum is not
  /// negative.
  std::vector<std::vector<double>> weights;
  double share = 1;  ///< Of the variance of all standardized bands, that of the kept components.
};

/// The components of samples. `samples`: `bands` values of each pixel, side by side.
Components principal_components(const std::vector<double>& samples, std::size_t bands);

/// Looks at these bands together: their components as brightness, red against blue, and green
/// against both. The components are those of at most 2^18 evenly spaced pixels. A pixel without
/// data in one of the bands has none. Throws InputError.
Decoded decode_components(const Scene& scene, const std::vector<int>& bands);

}  // namespace diacut
