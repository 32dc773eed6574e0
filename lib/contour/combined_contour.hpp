#pragma once

#include <vector>

#include "diacut/parameters.hpp"

namespace diacut {

/// The cue and the spectral contour as one map of boundary strength, after "gPb" (Arbelaez, Maire,
/// Fowlkes and Malik, "Contour detection and hierarchical image segmentation", 2011, eq. 14):
///
///   g = cue_weight * c + spectral_weight * min(s / spectral_scale, 1)^spectral_power, at most 1
///
/// with c the cue, in [0, 1], and s the spectral contour (spectral_contour()), both width * height
/// values, 0 where there is no data. Precondition: of equal size.
std::vector<float> combined_contour(const std::vector<float>& cue,
                                    const std::vector<float>& spectral,
                                    const ContourParameters& parameters);

}  // namespace diacut
