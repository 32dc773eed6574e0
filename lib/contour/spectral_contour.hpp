#pragma once

#include <cstddef>
#include <vector>

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

/// How a contour combines the boundary map b and the spectral contour s at a pixel:
/// min(boundary * b + spectral * min(s / scale, 1)^power, 1).
struct ContourShares {
  double boundary = 0;
  double spectral = 0;
  double scale = 1;
  double power = 1;
};

/// kernels/contour/spectral_contour.cl for one grid: the contour of a boundary map and
/// eigenvectors.
class SpectralContour {
 public:
  /// For at most `vectors` eigenvectors; 0 is allowed.
  SpectralContour(Context& context, const Grid& grid, int vectors);

  /// Enqueues: the contours of pixels into `contour`, whose elements that belong to no pixel stay
  /// as they are. `sqrt_degree`, `boundary` and `contour` have grid.rows() elements; `weights` has
  /// one for each vector.
  void launch(const DeviceVectors& vectors, const Buffer<float>& sqrt_degree,
              const std::vector<float>& weights, const Buffer<float>& boundary,
              const ContourShares& shares, Buffer<float>& contour);
  /// The same, of vectors whose scales are known: for each what is subtracted and what the rest is
  /// multiplied by, one after the other.
  void launch_scaled(const DeviceVectors& vectors, const Buffer<float>& sqrt_degree,
                     const std::vector<float>& scales, const Buffer<float>& boundary,
                     const ContourShares& shares, Buffer<float>& contour);

 private:
  void launch_contour(const DeviceVectors& vectors, const Buffer<float>& sqrt_degree,
                      const Buffer<float>& boundary, const ContourShares& shares,
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

}  // namespace diacut
