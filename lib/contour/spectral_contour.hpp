#pragma once

#include <vector>

#include "diacut/segmenter.hpp"

namespace diacut {

/// What an eigenvector counts in the spectral contour: one over the square root of its eigenvalue.
/// Eigenvalues below 1e-7 (disconnected pieces) count as if they were that.
double spectral_weight(double eigenvalue);

/// The spectral contour of P. Arbelaez, M. Maire, C. Fowlkes and J. Malik, "Contour detection and
/// hierarchical image segmentation", 2011, eq. 13: oriented derivatives of the eigenvectors, each
/// weighted by spectral_weight() and summed as absolute values; at each pixel the largest of eight
/// orientations. As in the authors' release each generalised eigenvector y is first scaled to
/// [0, 1], and the derivative is that of a Gaussian of sigma 1 on 7 x 7 pixels; borders are
/// mirrored. The trivial vector is left out, and one that is flat up to rounding adds nothing.
/// width * height values, 0 where there is no data.
///
/// On the host in double, written for reading; kernels/contour/spectral_contour.cl is what runs.
std::vector<double> reference_spectral_contour(const Eigenvectors& eigenvectors);

}  // namespace diacut
