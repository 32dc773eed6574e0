#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "diacut/hierarchy.hpp"
#include "diacut/parameters.hpp"

namespace diacut {

/// Oriented watershed and ultrametric contour map (Arbelaez, Maire, Fowlkes and Malik, "Contour
/// detection and hierarchical image segmentation", 2011, section 3): basins of the boundary
/// strength, arcs between them with a direction of their own, and greedy merging by the mean
/// strength along that direction. The map should not be thinned: basins leak through gaps.
///
/// strength: width * height values row by row, clamped to [0, 1]. orientation: the angle of the
/// boundary's normal at each pixel, from the x axis (right) towards the y axis (down), any period
/// of pi (as boundary_orientation() gives it); between two pixels the stronger one's counts, times
/// 1 - d + d |cos| of the angle between that and the arc's normal, where d is
/// parameters.direction. Empty: the strength as it is. valid: 0 where there is no data; empty:
/// every pixel has data.
///
/// Of the parameters, direction and threshold are used; the latter stays with the result. Time for
/// n pixels: about n log n. Throws InputError when sizes do not fit, NumericalError for a value
/// that is not finite where there is data. Deterministic, on the host.
Hierarchy hierarchy(const std::vector<float>& strength, const std::vector<float>& orientation,
                    const std::vector<std::uint8_t>& valid, int width, int height,
                    const RegionParameters& parameters);

/// Boundary strength for eight directions: element k belongs to normals of k pi / 8.
using OrientedStrength = std::array<std::vector<float>, 8>;

/// The same from a map for each direction: basins of the largest one at each pixel; an arc takes
/// the direction nearest to its own normal, between two pixels the larger value.
Hierarchy hierarchy(const OrientedStrength& strength, const std::vector<std::uint8_t>& valid,
                    int width, int height, const RegionParameters& parameters);

}  // namespace diacut
