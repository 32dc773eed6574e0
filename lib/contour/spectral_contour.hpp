#pragma once

#include <cstddef>
#include <vector>

#include "diacut/eigenvectors.hpp"
#include "diacut/parameters.hpp"
#include "matrix/grid.hpp"
#include "opencl/context.hpp"

namespace diacut {

/// Vectors of floats on the device: vector k begins at element first + k * pitch of `basis`.
struct DeviceVectors {
  const Buffer<float>& basis;
  std::size_t first = 0;
  std::size_t pitch = 0;
  int count = 0;
};

/// kernels/contour/spectral_contour.cl for one grid: the contour of a boundary map and
/// eigenvectors.
class SpectralContour {
 public:
  /// For at most `vectors` eigenvectors; 0 is allowed.
  SpectralContour(Context& context, const Grid& grid, int vectors);

  /// Enqueues: the contours of pixels, as combined_contour() combines the boundary map and the
  /// spectral contour, into `contour`, whose elements that belong to no pixel stay as they are.
  /// `sqrt_degree`, `boundary` and `contour` have grid.rows() elements; `weights` has
  /// one for each vector.
  void launch(const DeviceVectors& vectors, const Buffer<float>& sqrt_degree,
              const std::vector<float>& weights, const Buffer<float>& boundary,
              const ContourParameters& parameters, Buffer<float>& contour);
  /// The same, of vectors whose scales are known: for each what is subtracted and what the rest is
  /// multiplied by, one after the other.
  void launch_scaled(const DeviceVectors& vectors, const Buffer<float>& sqrt_degree,
                     const std::vector<float>& scales, const Buffer<float>& boundary,
                     const ContourParameters& parameters, Buffer<float>& contour);

 private:
  void launch_contour(const DeviceVectors& vectors, const Buffer<float>& sqrt_degree,
                      const Buffer<float>& boundary, const ContourParameters& parameters,
                      Buffer<float>& contour);

  Context* context_;
  Grid grid_;
  int padded_stride_;
  std::size_t group_;
  std::size_t lanes_;
  Buffer<float> planes_;
  Buffer<float> weights_;
  Buffer<float> scales_;
  Kernel scale_;
  Kernel pad_;
  Kernel contour_;
};

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
