#pragma once

#include <cstddef>
#include <vector>

#include "opencl/context.hpp"

namespace diacut {

/// kernels/contour/boundary_orientation.cl for images of one size.
class BoundaryOrientation {
 public:
  /// Pixel (x, y) is element y * stride + x. taps: three filters one after the other, of an odd
  /// number of weights each.
  BoundaryOrientation(Context& context, int width, int height, int stride,
                      const std::vector<float>& taps);

  /// Bytes that the constructor allocates for filters of `taps` weights together.
  static std::size_t memory(int width, int height, std::size_t taps);

  /// Enqueues. strength and orientation: stride * height elements; those of no pixel are neither
  /// read nor written.
  void launch(const Buffer<float>& strength, Buffer<float>& orientation);

 private:
  Context* context_;
  int width_;
  int height_;
  int stride_;
  int plane_stride_;
  std::size_t lanes_;
  Buffer<float> taps_;
  Buffer<float> planes_;
  cl::Kernel rows_;
  cl::Kernel columns_;
};

}  // namespace diacut
