#pragma once

#include <span>
#include <vector>

#include "matrix/grid.hpp"
#include "opencl/context.hpp"
#include "opencl/memory_budget.hpp"

namespace diacut {

/// Thinning of a boundary strength map, as edge detectors since Canny (1986) do it: a pixel stays
/// where it is the largest across the boundary. Maps are width * height values row by row, each
/// finite and at least 0; both functions throw InputError when a size does not fit.

/// The angle, in [0, pi) from the x axis (to the right) towards the y axis (down), of the normal of
/// the boundary at each pixel: the direction in which the map, smoothed by a triangle filter of
/// radius 4 with its borders mirrored, curves most. On a crest its second derivative there is
/// negative, in the flanks and between two crests positive; it is the eigenvector of that
/// eigenvalue of the Hessian that has the larger magnitude. 0 where the map is 0 all around.
std::vector<float> boundary_orientation(std::span<const float> strength, int width, int height);

/// The same on the device. strength: grid.rows() elements; of the result, those that belong to no
/// pixel are undefined.
Buffer<float> boundary_orientation(Context& context, const Grid& grid,
                                   const Buffer<float>& strength);
/// What that allocates, what it returns included.
void budget_orientation(MemoryBudget& budget, const Grid& grid);

/// The second derivatives of the smoothed map, whose eigenvectors boundary_orientation() gives: on
/// the host in double, written for reading.
struct Curvature {
  std::vector<double> xx;
  std::vector<double> xy;
  std::vector<double> yy;
};
Curvature reference_curvature(std::span<const float> strength, int width, int height);

/// `strength` where 1.01 times it is at least that of both neighbours one pixel away along
/// `orientation` (angles as above, in between pixels bilinear, outside the image that of the
/// nearest pixel), else 0. The outer 5 pixels, where filters see half of what they need, fade
/// linearly, to 0 in the outermost; in a map less than 10 pixels wide or high only its outer half.
std::vector<float> suppress_non_maxima(std::span<const float> strength,
                                       std::span<const float> orientation, int width, int height);

}  // namespace diacut
