#pragma once

#include <vector>

#include "diacut/eigenvectors.hpp"
#include "diacut/parameters.hpp"
#include "eigen/eigensolver.hpp"
#include "matrix/grid.hpp"
#include "opencl/kernel_file.hpp"

namespace diacut {

/// The eigenvectors, the trivial one included, that contours are made from.
inline constexpr int kContourVectors = 17;

/// The weight of an eigenvector in the spectral contour: one over the square root of its
/// eigenvalue. Eigenvalues below 1e-7, which disconnected pieces of an image have, count as 1e-7.
double spectral_weight(double eigenvalue);

/// The spectral contour of P. Arbelaez, M. Maire, C. Fowlkes and J. Malik, "Contour detection and
/// hierarchical image segmentation", 2011, eq. 13: at each pixel, the largest over eight
/// orientations of the sum of the absolute oriented derivatives of the eigenvectors, each weighted
/// by spectral_weight(). As in the program that the authors released, each generalized eigenvector
/// is first scaled to [0, 1], and derivatives are derivatives of a Gaussian of sigma 1 on 7 x 7
/// pixels, with mirrored borders. The trivial eigenvector is left out, and an eigenvector that is
/// flat up to rounding adds nothing. Returns width * height values, 0 where there is no data.
///
/// Computed on the host in double, written to be read; kernels/contour/spectral_contour.cl computes
/// it on the device.
std::vector<double> reference_spectral_contour(const Eigenvectors& eigenvectors);

/// The contour map of an image, in [0, 1], from its boundary map and its spectral contour, after
/// the gPb of Arbelaez, Maire, Fowlkes and Malik ("Contour detection and hierarchical image
/// segmentation", 2011, eq. 14):
///
///   g = min(boundary_weight * b + spectral_weight * min(s / spectral_scale, 1)^spectral_power, 1)
///
/// with b the boundary map, s the spectral contour of the eigenvectors (defined at
/// reference_spectral_contour()), and the other names members of `parameters`. Computed on the
/// device in float32. `boundary` and `sqrt_degree` have grid.rows() elements and are 0 where there
/// is no data. Returns grid.rows() elements, 0 where there is no data; elements that belong to no
/// pixel are undefined. Throws DeviceError.
Buffer<float> combined_contour(Context& context, const Grid& grid,
                               const DeviceEigenvectors& eigenvectors,
                               const Buffer<float>& sqrt_degree, const Buffer<float>& boundary,
                               const ContourParameters& parameters);

/// The contour map g of combined_contour() without a spectral contour: min(boundary_weight * b, 1).
Buffer<float> boundary_contour(Context& context, const Grid& grid, const Buffer<float>& boundary,
                               const ContourParameters& parameters);

/// The contour map of an image without a boundary map, in [0, 1]: min(s / q, 1)^spectral_power with
/// s the spectral contour, and q its quantile 0.99 over the pixels with data. Affinities by
/// features have eigenvalues of any magnitude, and the spectral contour grows as these become
/// smaller, so that it is measured by its own strongest parts. `nothing`: grid.rows() zeros.
/// Otherwise as combined_contour(). Waits for the device. Throws DeviceError.
Buffer<float> spectral_contour_alone(Context& context, const Grid& grid,
                                     const DeviceEigenvectors& eigenvectors,
                                     const Buffer<float>& sqrt_degree, const Buffer<float>& nothing,
                                     const ContourParameters& parameters);

/// The contour map g from a boundary map and a spectral contour of the same size, on the host in
/// double, written to be read.
std::vector<double> reference_combined_contour(const std::vector<float>& boundary,
                                               const std::vector<double>& spectral,
                                               const ContourParameters& parameters);

/// The kernels of the contours with such eigenvectors.
KernelFile contour_kernels(Context& context, SpectralUse spectral);

}  // namespace diacut
