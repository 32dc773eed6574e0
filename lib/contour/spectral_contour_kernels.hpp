#pragma once

#include <cstddef>
#include <vector>

#include "opencl/context.hpp"

namespace diacut {

/// Vectors of float on the device: number k is elements first + k * pitch on of `basis`.
struct DeviceVectors {
  const Buffer<float>& basis;
  std::size_t first = 0;
  std::size_t pitch = 0;
  int count = 0;
};

/// Of eq. 14 in kernels/contour/spectral_contour.cl: min(cue c + spectral min(s / scale, 1)^power,
/// 1).
struct ContourShares {
  double cue = 0;
  double spectral = 0;
  double scale = 1;
  double power = 1;
};

/// kernels/contour/spectral_contour.cl for images of one size.
class SpectralContour {
 public:
  /// Pixel (x, y) is element y * stride + x. At most `vectors` of them, which may be 0.
  SpectralContour(Context& context, int width, int height, int stride, int vectors);

  /// Bytes that the constructor allocates: of the planes that hold the vectors with a border, the
  /// largest piece, and of the rest.
  static std::size_t planes_memory(int width, int height, int vectors);
  static std::size_t scales_memory(int vectors);

  /// Enqueues. sqrt_degree, cue and contour: stride * height elements; weights: one a vector.
  /// Writes the contours of pixels, elements beyond the width stay as they are.
  void launch(const DeviceVectors& vectors, const Buffer<float>& sqrt_degree,
              const std::vector<float>& weights, const Buffer<float>& cue,
              const ContourShares& shares, Buffer<float>& contour);

 private:
  Context* context_;
  int width_;
  int height_;
  int stride_;
  int padded_stride_;
  std::size_t group_;
  std::size_t lanes_;
  Buffer<float> planes_;
  Buffer<float> weights_;
  Buffer<float> scales_;
  cl::Kernel scale_;
  cl::Kernel pad_;
  cl::Kernel contour_;
};

}  // namespace diacut
