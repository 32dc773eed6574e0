#pragma once

#include <vector>

#include "diacut/parameters.hpp"
#include "eigen/eigensolver.hpp"
#include "matrix/grid.hpp"
#include "opencl/context.hpp"
#include "opencl/memory_budget.hpp"

namespace diacut {

/// What combined_contour() allocates for at most `vectors` eigenvectors, the trivial one included,
/// what it returns included.
void budget_contour(MemoryBudget& budget, const Grid& grid, int vectors);

/// The cue and the spectral contour as one map of boundary strength, after "gPb" (Arbelaez, Maire,
/// Fowlkes and Malik, "Contour detection and hierarchical image segmentation", 2011, eq. 14):
///
///   g = cue_weight * c + spectral_weight * min(s / spectral_scale, 1)^spectral_power, at most 1
///
/// with c the cue, in [0, 1], and s the spectral contour of the eigenvectors, as
/// reference_spectral_contour() tells. On the device, in float32. cue and sqrt_degree: grid.rows()
/// elements, 0 where there is no data; so the result, whose elements that belong to no pixel are
/// undefined.
Buffer<float> combined_contour(Context& context, const Grid& grid,
                               const DeviceEigenvectors& eigenvectors,
                               const Buffer<float>& sqrt_degree, const Buffer<float>& cue,
                               const ContourParameters& parameters);

/// g from c and s, both of one size, on the host in double, written for reading.
std::vector<double> reference_combined_contour(const std::vector<float>& cue,
                                               const std::vector<double>& spectral,
                                               const ContourParameters& parameters);

}  // namespace diacut
