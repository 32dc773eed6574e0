#pragma once

#include <span>
#include <vector>

#include "matrix/grid.hpp"
#include "opencl/kernel_file.hpp"

namespace diacut {

/// The angle, in [0, pi) from the x axis (to the right) towards the y axis (down), of the normal of
/// the boundary at each pixel: the direction in which the map, smoothed by a triangle filter of
/// radius 4 with mirrored borders, curves most. This direction is the eigenvector of the Hessian
/// for the eigenvalue of larger magnitude. The second derivative in it is negative on a crest of
/// the map, and positive on the flanks and between two crests. The angle is 0 where the map is 0
/// all around. `boundary` has width * height values row by row, each finite and at least 0. Throws
/// InputError when it has another number of values.
std::vector<float> boundary_orientation(std::span<const float> boundary, int width, int height);

/// The angles of the boundary normals, as the overload on the host defines them, computed on the
/// device. `boundary` has grid.rows() elements. Returns grid.rows() elements; elements that belong
/// to no pixel are undefined. Throws DeviceError.
Buffer<float> boundary_orientation(Context& context, const Grid& grid,
                                   const Buffer<float>& boundary);

/// The Hessian of the smoothed map at each pixel, of which boundary_orientation() takes an
/// eigenvector.
struct Curvature {
  std::vector<double> xx;
  std::vector<double> xy;
  std::vector<double> yy;
};
/// The Hessian on the host in double. Throws InputError as boundary_orientation() does.
Curvature reference_curvature(std::span<const float> boundary, int width, int height);

/// Non-maximum suppression of a boundary map, as edge detectors since Canny (1986) do it: a pixel
/// is kept where its value is the largest across the boundary.
///
/// `boundary` and the result are maps of width * height values row by row, each finite and at least
/// 0. Throws InputError when a map has another number of values.
///
/// Returns the map with 0 at each pixel where 1.01 times its value is less than one of the two
/// values one pixel away along `orientation` (the angles of boundary_orientation()). Values between
/// pixels are bilinear; outside of the image the nearest pixel counts. The outer 5 pixels, where
/// half of each filter lies outside of the image, fade linearly to 0 at the border; in a map less
/// than 10 pixels wide or high the outer half does.
std::vector<float> suppress_non_maxima(std::span<const float> boundary,
                                       std::span<const float> orientation, int width, int height);

/// The kernels of the overload on the device.
KernelFile orientation_kernels(Context& context);

}  // namespace diacut
