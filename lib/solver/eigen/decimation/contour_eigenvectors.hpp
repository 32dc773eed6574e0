#pragma once

#include <cstddef>
#include <vector>

#include "diacut/eigenvectors.hpp"
#include "diacut/progress.hpp"
#include "matrix/grid.hpp"
#include "matrix/interpolation.hpp"
#include "opencl/context.hpp"

namespace diacut {

/// Generalized eigenvectors y of (D - W) y = lambda D y, as exact as contours need them, of images
/// of one size. Vector k of image i is elements [(i * count + k) * pitch, ... + rows) of `vectors`.
struct ContourEigenvectors {
  std::size_t rows = 0;
  std::size_t pitch = 0;
  int count = 0;  ///< Of each image; where it has fewer, the last ones are 0.
  Buffer<float> vectors;

  struct Image {
    /// Of as many vectors as the image has, without the trivial one: eigenvalues on the image's
    /// own grid, the least entry, and the largest less the least, 0 where that is rounding alone.
    std::vector<double> values;
    std::vector<float> least;
    std::vector<float> extent;
    EigenReport report;
  };
  std::vector<Image> images;
};

/// The nontrivial eigenvectors that contours are made from.
inline constexpr int kContourVectors = 16;

/// The grid is decimated until an image has at most 100 pixels left. There the eigenproblem is
/// solved densely on the host. The vectors are interpolated up to the finest grid of at most 6,000
/// pixels, on each grid filtered by a Chebyshev polynomial of its matrix, and made Ritz vectors on
/// the last (Y. Zhou and Y. Saad, "A Chebyshev-Davidson algorithm for large symmetric
/// eigenproblems", 2007, has the filter); further up they are interpolated alone. An eigenvalue
/// halves from a grid to the next finer one. On photographs of 481 x 321 pixels the spectral
/// contour correlates .998 with that of 16 exact eigenvectors.
///
/// `kept`: the affinities of the images' pixels to those of every other row and column. `grid`: of
/// an image. Throws DeviceError, and NumericalError where a matrix holds no numbers.
ContourEigenvectors contour_eigenvectors(Context& context, const Interpolation& kept,
                                         const Grid& grid, const Watch& watch);

}  // namespace diacut
