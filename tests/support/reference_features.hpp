#pragma once

#include <cstdint>
#include <vector>

#include "diacut/parameters.hpp"
#include "matrix/grid.hpp"

namespace diacut {

/// The reference twin of feature_affinity() for a scale, on the host in double: values of a DIA
/// form with the shape of the grid and the stencil. `features`: `channels` planes of grid.rows()
/// elements; `strength` and `valid` hold grid.rows() elements each.
std::vector<double> reference_feature_affinity(const Grid& grid, const std::vector<float>& features,
                                               int channels, const std::vector<float>& strength,
                                               const std::vector<std::uint8_t>& valid,
                                               const AffinityParameters& parameters, double scale);

/// The reference twin of the automatic scale; 0 where no pair differs.
double reference_feature_scale(const Grid& grid, const std::vector<float>& features, int channels,
                               const std::vector<std::uint8_t>& valid,
                               const AffinityParameters& parameters);

}  // namespace diacut
