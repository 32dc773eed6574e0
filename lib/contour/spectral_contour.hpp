#pragma once

#include <vector>

#include "diacut/eigenvectors.hpp"

namespace diacut {

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

}  // namespace diacut
