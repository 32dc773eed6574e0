#pragma once

#include <array>
#include <vector>

#include "diacut/segmenter.hpp"

namespace diacut {

inline constexpr int kOrientations = 8;

/// The spectral contour of P. Arbelaez, M. Maire, C. Fowlkes and J. Malik, "Contour detection and
/// hierarchical image segmentation", 2011, eq. 13: oriented derivatives of the eigenvectors, each
/// weighted by one over the square root of its eigenvalue and summed as absolute values. As in the
/// authors' release each generalised eigenvector y is first scaled to [0, 1], and the derivative is
/// that of a Gaussian of sigma 1 on 7 x 7 pixels; borders are mirrored. Element k is the map of
/// orientation k pi / 8 (of the derivative, from the x axis to the y axis), width * height values,
/// 0 where there is no data. Eigenvalues below `floor` (disconnected pieces) weigh as if they were
/// `floor`. The trivial vector is left out.
std::array<std::vector<float>, kOrientations> oriented_spectral_contour(
    const Eigenvectors& eigenvectors, double floor = 1e-7);

/// The largest of the orientations at each pixel.
std::vector<float> spectral_contour(const Eigenvectors& eigenvectors, double floor = 1e-7);

}  // namespace diacut
